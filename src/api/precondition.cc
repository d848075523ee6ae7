#include "api/precondition.h"

#include "api/problem.h"

namespace cairn::api {
namespace {

template <class Find>
void reply_with_etag(EngineCore& core, const Reply& reply, const Error& error, Find find) {
  Response response = problem(error);
  if (response.status != 412) return reply(std::move(response));
  core.deliveries().defer([reply, response = std::move(response), find = std::move(find)]() mutable {
    if (const auto row = find(); row && *row) {
      response.headers.emplace_back("etag", "\"" + std::to_string((*row)->state_version) + "\"");
    }
    reply(std::move(response));
  });
}

}  // namespace

void reply_to_refused(EngineCore& core, const InstanceId& id, const Reply& reply, const Error& error) {
  reply_with_etag(core, reply, error, [&core, id] { return core.store().find_instance(id); });
}

void reply_to_refused(EngineCore& core, const TaskId& id, const Reply& reply, const Error& error) {
  reply_with_etag(core, reply, error, [&core, id] { return core.store().find_task(id); });
}

}  // namespace cairn::api
