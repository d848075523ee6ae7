#include "api/telemetry/trace_context.h"

#include "base/entropy.h"
#include "base/sha256.h"
#include "instance/trace_id.h"

namespace cairn::api {
namespace {

std::string random_id(std::size_t bytes) {
  std::string out(bytes, '\0');
  fill_random({reinterpret_cast<std::uint8_t*>(out.data()), out.size()});
  return to_hex(out);
}

}  // namespace

std::string TraceContext::header() const { return "00-" + trace + "-" + span + (sampled ? "-01" : "-00"); }

TraceContext trace_of(std::string_view text) {
  TraceContext context;
  context.span = random_id(8);
  if (!is_traceparent(text)) {
    context.trace = random_id(16);
    return context;
  }
  context.trace = std::string(text.substr(3, 32));
  context.parent = std::string(text.substr(36, 16));
  context.sampled = is_sampled(text);
  return context;
}

}  // namespace cairn::api
