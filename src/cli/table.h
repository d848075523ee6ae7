// A list for people and for programs: aligned columns under their names on a terminal, tab-separated lines in a pipe.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace cairn::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  // As many texts as there are columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Whether `out` is this process's own terminal.
bool on_terminal(const std::ostream& out);
// The same, and the terminal understands cursor movements and colours (TERM is set and not "dumb").
bool takes_controls(const std::ostream& out);
// The same, and colour is wanted (NO_COLOR is not set).
bool in_colour(const std::ostream& out);
// Whether nobody reads `out` any more: a closed pipe, a terminal that hung up.
bool reader_is_gone(const std::ostream& out);
bool stdout_is_closed();
// How many rows of a terminal with so many columns these lines take; 0 columns: nothing wraps.
std::size_t rows_of(const std::string& text, std::size_t columns);

}  // namespace cairn::cli
