// Rows as the JSON documents that people and programs see, the same over HTTP and on the command line.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "coordinator/coordinator.h"
#include "store/rows.h"

namespace cairn::server {

Json document(const DefinitionRow& row);  // without the canonical form
Json document(const InstanceRow& row);
Json document(const InstanceAnswer& answer);
Json document(const TaskRow& row);
Json document(const TaskEvent& event);
Json document(const Wait& wait);
Json document(const HistoryRow& row);
Json document(const RunRow& row);
// What a worker is given: {"items": […]}, each run with the length of its lease and its trace.
std::string leased_document(std::span<const RunRow> runs, Timestamp now);
Json document(const RunEvent& event);
Json document(const RunTypeRow& row);
// What the engine resumes from.
Json document(const Snapshot& snapshot);
// With input, state, waits and, when completed, the output.
Json document(const InstanceRow& row, const Snapshot& snapshot);

template <class Row>
Json document(const Page<Row>& page) {
  Json items = Json::array();
  for (const Row& row : page.items) items.push_back(document(row));
  Json list =
      Json::object({{"items", items}, {"next_cursor", page.next_cursor.empty() ? Json() : Json(page.next_cursor)}});
  if (page.unreadable.empty()) return list;
  Json unreadable = Json::array();
  for (const std::string& row : page.unreadable) unreadable.push_back(row);
  list.set("unreadable", unreadable);
  return list;
}

}  // namespace cairn::server
