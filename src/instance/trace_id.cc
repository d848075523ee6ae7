#include "instance/trace_id.h"

#include "base/sha256.h"

namespace cairn {
namespace {

// The start of a hash; ids of zeros alone are not valid, and no known text has such a hash.
std::string digits_of(std::string_view text, std::size_t count) { return sha256_hex(text).substr(0, count); }

}  // namespace

std::string trace_id_of(const InstanceId& instance) { return digits_of(instance.value, 32); }

std::string trace_id_of(const std::optional<InstanceId>& instance, const RunId& run) {
  return instance ? trace_id_of(*instance) : digits_of(run.value, 32);
}

std::string span_id_of(std::string_view what) { return digits_of(what, 16); }

std::string span_id_of(const RunId& run, int attempt) { return span_id_of(run.value + "#" + std::to_string(attempt)); }

std::string traceparent_of(std::string_view trace_id, std::string_view span_id) {
  std::string text("00-");
  text.append(trace_id).append("-").append(span_id).append("-01");
  return text;
}

std::string traceparent_of(const std::optional<InstanceId>& instance, const RunId& run, int attempt) {
  return traceparent_of(trace_id_of(instance, run), span_id_of(run, attempt));
}

}  // namespace cairn
