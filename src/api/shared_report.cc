#include "api/shared_report.h"

#include <exception>
#include <utility>

#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr int niceness = 10;

}  // namespace

void SharedReport::ask(Reply reply) {
  const std::scoped_lock lock(mutex_);
  asked_.push_back(std::move(reply));
  if (std::exchange(busy_, true)) return;
  if (!thread_) thread_.emplace(1, niceness);
  thread_->submit([this] { make_all(); });
}

std::vector<Reply> SharedReport::next() {
  const std::scoped_lock lock(mutex_);
  std::vector<Reply> asking = std::exchange(asked_, {});
  std::erase_if(asking, [](const Reply& reply) { return !reply.listening(); });
  busy_ = !asking.empty();
  return asking;
}

void SharedReport::make_all() {
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
