#include "api/shared_report.h"

#include <exception>

#include "api/problem.h"

namespace cairn::api {

std::vector<Reply> SharedReport::next() {
  const std::scoped_lock lock(mutex_);
  std::vector<Reply> asking = std::move(asked_);
  asked_.clear();
  std::erase_if(asking, [](const Reply& reply) { return !reply.listening(); });
  busy_ = !asking.empty();
  return asking;
}

void SharedReport::ask(Reply reply) {
  {
    const std::scoped_lock lock(mutex_);
    asked_.push_back(std::move(reply));
    if (busy_) return;
    busy_ = true;
  }
  for (std::vector<Reply> asking = next(); !asking.empty(); asking = next()) {
    const Response response = [this] {
      try {
        return make_();
      } catch (const std::exception& failure) {
        return problem(Error{ErrorCode::internal, failure.what()});
      }
    }();
    for (const Reply& one : asking) one(response);
  }
}

}  // namespace cairn::api
