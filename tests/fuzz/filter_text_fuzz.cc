// Any text as a filter of a list: what is read, written as a filter again, means the same.
#include "api/filter_text.h"

#include "input.h"

namespace {

// The part of a filter; empty values and quotes cannot be written.
std::string part(std::string_view name, std::string_view value) {
  return value.empty() ? "" : std::string(name) + ":\"" + std::string(value) + "\" ";
}

}  // namespace

void fuzz(std::string_view text) {
  using namespace cairn;
  InstanceFilter filter;
  if (const auto read = api::read_filter(text, filter); read && text.find('"') == std::string_view::npos) {
    std::string again =
        part("definition", filter.definition) + part("version", filter.version) + part("ref", filter.reference_key);
    if (filter.status) again += part("status", to_string(*filter.status));
    for (const auto& [name, value] : filter.reference_parts) again += part("part." + name, value);
    if (filter.parent) again += part("parent", filter.parent->value);
    if (filter.started_from) again += part("from", format_timestamp(*filter.started_from));
    if (filter.started_to) again += part("to", format_timestamp(*filter.started_to));
    if (filter.deleted) again += "deleted:yes ";
    if (!filter.text.empty()) again += "\"" + filter.text + "\"";
    InstanceFilter same;
    CAIRN_ASSERT(api::read_filter(again, same).has_value());
    CAIRN_ASSERT(same.status == filter.status && same.definition == filter.definition);
    CAIRN_ASSERT(same.version == filter.version && same.reference_key == filter.reference_key);
    CAIRN_ASSERT(same.reference_parts == filter.reference_parts && same.parent == filter.parent);
    CAIRN_ASSERT(same.started_from == filter.started_from && same.started_to == filter.started_to);
    CAIRN_ASSERT(same.deleted == filter.deleted && same.text == filter.text);
  } else if (!read) {
    CAIRN_ASSERT(!read.error().message.empty());
  }
  TaskFilter tasks;
  if (const auto read = api::read_filter(text, tasks); !read) CAIRN_ASSERT(!read.error().message.empty());
}
