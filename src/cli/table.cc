#include "cli/table.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string_view>

#include "base/utf8.h"
#include "cli/safe_output.h"

namespace cairn::cli {
namespace {

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).size) ++width;
  return width;
}

// A cell stays on one line. SafeOutput handles other control characters.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

bool on_terminal(const std::ostream& out) {
  if (&out == &std::cerr) return isatty(STDERR_FILENO) != 0;
  return &out == &std::cout && isatty(STDOUT_FILENO) != 0;
}

bool takes_controls(const std::ostream& out) {
  const char* const terminal = std::getenv("TERM");
  return on_terminal(out) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

bool in_colour(const std::ostream& out) {
  const char* without = std::getenv("NO_COLOR");
  return takes_controls(out) && (!without || *without == 0);
}

bool stdout_is_closed() {
  pollfd end{STDOUT_FILENO, 0, 0};
  return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

bool reader_is_gone(const std::ostream& out) { return !out || (&out == &std::cout && stdout_is_closed()); }

std::size_t rows_of(const std::string& text, std::size_t columns) {
  std::size_t rows = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t width = width_of(line);
    rows += width == 0 || columns == 0 ? 1 : (width + columns - 1) / columns;
  }
  return rows;
}

void Table::print(std::ostream& out) const {
  if (!on_terminal(out)) {
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) out << (i ? "\t" : "") << on_one_line(row[i]);
      out << "\n";
    }
    return;
  }
  std::vector<std::size_t> widths;
  for (const std::string& column : columns_) widths.push_back(width_of(column));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = on_one_line(row[i]);
      out << text;
      if (i + 1 < row.size()) out << std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    out << "\n";
  };
  const bool colour = in_colour(out);
  if (colour) print_raw(out, "\033[2m");
  line(columns_);
  if (colour) print_raw(out, "\033[0m");
  for (const auto& row : rows_) line(row);
}

}  // namespace cairn::cli
