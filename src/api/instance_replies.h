// What the resources of instances share: the id in the path, and the answer to a request that changes an instance.
#pragma once

#include <string>

#include "api/api.h"
#include "api/documents.h"
#include "api/problem.h"

namespace cairn::api {

inline InstanceId id_of(const Call& call) { return {std::string(call.at("id"))}; }

inline void reply_with(const Reply& reply, const Result<InstanceAnswer>& answer, int status = 200) {
  if (!answer) {
    reply(problem(answer.error()));
    return;
  }
  Response response = json_response(document(*answer), status);
  response.headers.emplace_back("etag", "\"" + std::to_string(answer->state_version) + "\"");
  if (answer->repeated) response.headers.emplace_back(replayed_header, "true");
  reply(std::move(response));
}

// The answer to a change with If-Match: 412 with the current state version if the instance has moved.
inline void reply_with_etag(EngineCore& core, const Call& call, const Error& error) {
  core.deliveries().defer([&core, call, error] {
    Response response = problem(error);
    const auto row = core.store().find_instance(id_of(call));
    if (row && *row) response.headers.emplace_back("etag", "\"" + std::to_string((*row)->state_version) + "\"");
    call.reply(std::move(response));
  });
}

}  // namespace cairn::api
