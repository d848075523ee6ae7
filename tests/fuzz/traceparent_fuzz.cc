// Any text as a traceparent header: accepted exactly if it has W3C's form, and a trace that is carried with a value
// comes back with it.
#include "instance/trace_id.h"

#include "base/json.h"
#include "input.h"
#include "instance/carried_trace.h"

namespace {

bool has_form(std::string_view text) {
  constexpr std::string_view form = "vv-tttttttttttttttttttttttttttttttt-ssssssssssssssss-ff";
  if (text.size() < form.size() || text.starts_with("ff")) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = std::string_view("0123456789abcdef").find(text[i]) != std::string_view::npos;
    if (form[i] == '-' ? text[i] != '-' : !digit) return false;
  }
  // Later versions may have more fields.
  if (text.size() > form.size() && (text.starts_with("00") || text[form.size()] != '-')) return false;
  return text.substr(3, 32).find_first_not_of('0') != std::string_view::npos &&
         text.substr(36, 16).find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::string_view text = fuzzing::take_line(input);
  CAIRN_ASSERT(is_traceparent(text) == has_form(text));
  const auto value = parse_json(input);
  if (!is_traceparent(text)) return;
  const std::string span = span_id_of(input);
  const std::string continued = continued_traceparent(text, span);
  CAIRN_ASSERT(is_traceparent(continued) && continued.substr(3, 32) == text.substr(3, 32));
  CAIRN_ASSERT(continued.substr(36, 16) == span && is_sampled(continued) == is_sampled(text));
  if (!value || value->find(carried_trace_member) != nullptr || value->find(carried_value_member) != nullptr) return;
  const Json stored = with_trace(*value, text);
  CAIRN_ASSERT(trace_in(stored) == text);
  const Carried carried = without_trace(stored);
  CAIRN_ASSERT(carried.traceparent == text && carried.value == *value);
}
