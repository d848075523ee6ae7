// A list for people and programs: aligned columns with headings on a terminal, tab-separated lines in a pipe.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace cairn::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  // One text per column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Whether `out` is this process's own terminal.
bool on_terminal(const std::ostream& out);
// The same, and the terminal supports cursor movements and colours (TERM is set and not "dumb").
bool takes_controls(const std::ostream& out);
// The same, and colour is wanted (NO_COLOR is not set).
bool in_colour(const std::ostream& out);
// Whether `out` has no reader any more: a closed pipe, a terminal that hung up.
bool reader_is_gone(const std::ostream& out);
bool stdout_is_closed();
// How many rows these lines take on a terminal with this many columns; 0 columns: no wrapping.
std::size_t rows_of(const std::string& text, std::size_t columns);

}  // namespace cairn::cli
