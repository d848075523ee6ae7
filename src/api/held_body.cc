#include "api/held_body.h"

#include <algorithm>

#include "api/problem.h"

namespace cairn::api {
namespace {

// About how much memory a value takes. Small values take up to 20 times their text.
std::size_t memory_of(const Json& value) {
  constexpr std::size_t container = 48;
  std::size_t bytes = 0;
  if (value.is_string()) {
    bytes = value.as_string().size();
  } else if (value.is_array()) {
    bytes = container;
    for (const Json& item : value.items()) bytes += sizeof(Json) + memory_of(item);
  } else if (value.is_object()) {
    bytes = container;
    for (const Json::Member& member : value.members()) {
      bytes += sizeof(Json::Member) + member.key.size() + memory_of(member.value);
    }
  }
  return bytes;
}

}  // namespace

std::optional<Response> hold_body(const Route& route, Call& call) {
  constexpr std::size_t small = 1024;
  if (call.request.body.size() < small) return std::nullopt;
  auto share = std::make_shared<http::BodyShare>(std::move(call.request.body_share));
  const bool known_caller = route.permission != Permission::signed_request;
  // Even with the smallest budget each body is taken when no other is there.
  const std::size_t most = known_caller ? share->bytes_max() : share->bytes_max() / 2;
  const std::size_t bytes = std::min(most, std::max(call.request.body.size(), memory_of(call.body)));
  if (!share->grow_to(bytes, known_caller)) {
    return limit_problem(503, "http.bodies_bytes_max", static_cast<std::int64_t>(share->bytes_max()),
                         "the bodies of other requests use all memory for request bodies");
  }
  if (call.demand == Demand::long_poll) {
    call.body_held = std::move(share);
    return std::nullopt;
  }
  call.reply = call.reply.through([share = std::move(share), reply = call.reply](Response response) mutable {
    share.reset();
    reply(std::move(response));
  });
  return std::nullopt;
}

}  // namespace cairn::api
