// One page of a list as an answer. A page above the size limit ends early, with a cursor.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/api.h"
#include "api/problem.h"
#include "base/limit_refusals.h"

namespace cairn::api {

// Rows are read in portions, so that a page of large rows is never in memory as a whole. A row can have 4 MiB: the
// first portion is small, and later ones are as large as the rows before them allow.
inline constexpr std::size_t first_portion = 8;
inline constexpr std::size_t page_portion = 100;

// How many rows to read after `rows` with `bytes` in total, if `room` is left in the page.
inline std::size_t next_portion(std::size_t before, std::size_t rows, std::size_t bytes, std::size_t room) {
  const std::size_t fitting = room / std::max<std::size_t>(1, bytes / std::max<std::size_t>(1, rows)) + 1;
  return std::min({fitting, 4 * before, page_portion});
}

// The text of `{"items": […], "next_cursor": …}`, with `unreadable` if rows were omitted.
class PageText {
 public:
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const { return text_.size(); }
  void add(const std::string& row) {
    if (rows_++ > 0) text_.push_back(',');
    text_ += row;
  }
  void leave_out(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) unreadable_.push_back(row);
  }
  std::string finish(const std::string& cursor) && {
    text_ += "],\"next_cursor\":";
    write_json(cursor.empty() ? Json() : Json(cursor), text_);
    if (unreadable_.size() > 0) {
      text_ += ",\"unreadable\":";
      write_json(unreadable_, text_);
    }
    text_.push_back('}');
    return std::move(text_);
  }

 private:
  std::string text_ = "{\"items\":[";
  std::size_t rows_ = 0;
  Json unreadable_ = Json::array();
};

// `fetch` reads a page from the store; `show` creates the document of a row.
template <class Fetch, class Show>
Response page_answer(const Call& call, const Fetch& fetch, const Show& show) {
  const auto read = page_of(call);
  if (!read) return problem(400, "parameter", "Invalid query parameter", read.error().message);
  const PageRequest& asked = *read;
  const std::size_t bytes_max = call.answer_limits.page_bytes_max;
  PageText text;
  PageRequest portion{std::min(asked.limit, first_portion), asked.cursor};
  for (;;) {
    const auto page = fetch(portion);
    if (!page) return problem(page.error());
    std::vector<std::string> rows;
    std::size_t bytes = text.bytes();
    for (const auto& row : page->items) {
      rows.push_back(write_json(show(row)));
      bytes += rows.back().size() + 1;
      // The first row of a page is sent whatever its size: otherwise the list could never continue after it.
      if (bytes > bytes_max && text.rows() + rows.size() > 1) {
        rows.pop_back();
        break;
      }
    }
    if (rows.size() < page->items.size()) {
      count_limit_refusal("limits.page_bytes_max", static_cast<std::int64_t>(bytes_max));
      if (rows.empty()) return {200, "application/json", {}, std::move(text).finish(portion.cursor)};
      // Only the store can create a cursor: read just the rows that fit.
      portion.limit = rows.size();
      const auto shorter = fetch(portion);
      if (!shorter) return problem(shorter.error());
      for (const auto& row : shorter->items) text.add(write_json(show(row)));
      text.leave_out(shorter->unreadable);
      return {200, "application/json", {}, std::move(text).finish(shorter->next_cursor)};
    }
    for (const std::string& row : rows) text.add(row);
    text.leave_out(page->unreadable);
    // A page without rows but with a cursor: the search used up its budget.
    const bool searched_enough = page->items.empty() && page->unreadable.empty();
    if (page->next_cursor.empty() || searched_enough || text.rows() >= asked.limit) {
      return {200, "application/json", {}, std::move(text).finish(page->next_cursor)};
    }
    const std::size_t room = bytes_max - std::min(bytes_max, text.bytes());
    portion = {std::min(asked.limit - text.rows(), next_portion(portion.limit, text.rows(), text.bytes(), room)),
               page->next_cursor};
  }
}

}  // namespace cairn::api
