#include "instance/trace_id.h"

#include <algorithm>

#include "base/sha256.h"

namespace cairn {
namespace {

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) { return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos; }

// The start of a hash. An id of zeros alone is invalid, but no known text has such a hash.
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

std::string traceparent_of(std::string_view carried, const std::optional<InstanceId>& instance, const RunId& run,
                           int attempt) {
  return carried.empty() ? traceparent_of(instance, run, attempt)
                         : continued_traceparent(carried, span_id_of(run, attempt));
}

bool is_traceparent(std::string_view text) {
  // A later version of the format may append more fields after another dash.
  return text.size() >= 55 && text[2] == '-' && text[35] == '-' && text[52] == '-' && is_hex(text.substr(0, 2)) &&
         text.substr(0, 2) != "ff" && is_id(text.substr(3, 32)) && is_id(text.substr(36, 16)) &&
         is_hex(text.substr(53, 2)) && (text.size() == 55 || (text.substr(0, 2) != "00" && text[55] == '-'));
}

bool is_sampled(std::string_view traceparent) {
  const char flags = traceparent[54];
  return (flags - (flags >= 'a' ? 'a' - 10 : '0')) % 2 == 1;
}

std::string continued_traceparent(std::string_view traceparent, std::string_view span_id) {
  std::string text("00-");
  text.append(traceparent.substr(3, 32)).append("-").append(span_id).append(is_sampled(traceparent) ? "-01" : "-00");
  return text;
}

std::string trace_id_of(std::string_view carried, const InstanceId& instance) {
  return carried.empty() ? trace_id_of(instance) : std::string(carried.substr(3, 32));
}

}  // namespace cairn
