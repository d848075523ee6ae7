#include "api/instance_search.h"

#include <algorithm>
#include <charconv>

namespace cairn::api {
namespace {

// The value at a dotted path; numbers are places in lists. Null if there is none.
const Json* value_at(const Json& state, std::string_view path) {
  const Json* at = &state;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (at->is_object()) {
      at = at->find(name);
    } else if (at->is_array()) {
      std::size_t place = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), place);
      at = read.ec == std::errc() && place < at->size() ? &at->items()[place] : nullptr;
    } else {
      return nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

bool has_values(const Json& state, const std::vector<std::pair<std::string, std::string>>& values) {
  return std::all_of(values.begin(), values.end(), [&state](const auto& wanted) {
    const Json* const found = value_at(state, wanted.first);
    if (found == nullptr) return false;
    return found->is_string() ? found->as_string() == wanted.second : write_json(*found) == wanted.second;
  });
}

Result<Page<InstanceRow>> InstanceSearch::list(const InstanceFilter& filter, const PageRequest& request) {
  if (filter.data.empty()) return store_.list_instances(filter, request);
  constexpr std::size_t part_rows = 200;
  Page<InstanceRow> found;
  PageRequest part{part_rows, request.cursor};
  while (budget_ > 0) {
    part.limit = std::min(part_rows, budget_);
    CAIRN_TRY(auto rows, store_.list_instances(filter, part));
    std::size_t read = 0;
    for (InstanceRow& row : rows.items) {
      ++read;
      const auto snapshot = store_.find_snapshot(row.id);
      if (!snapshot || !*snapshot || !has_values((**snapshot).state, filter.data)) continue;
      found.items.push_back(std::move(row));
      if (found.items.size() == request.limit) break;
    }
    budget_ -= std::min(budget_, std::max<std::size_t>(read, 1));
    if (found.items.size() == request.limit && read < rows.items.size()) {
      // Only the store can create a cursor: read just the rows that were used.
      CAIRN_TRY(const auto used, store_.list_instances(filter, {read, part.cursor}));
      found.next_cursor = used.next_cursor;
      return found;
    }
    found.next_cursor = rows.next_cursor;
    part.cursor = rows.next_cursor;
    if (part.cursor.empty() || found.items.size() == request.limit) return found;
  }
  // Nothing was read any more: the next request continues here.
  if (found.next_cursor.empty()) found.next_cursor = request.cursor;
  return found;
}

}  // namespace cairn::api
