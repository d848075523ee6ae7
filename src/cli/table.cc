#include "cli/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/utf8.h"

namespace cairn::cli {
namespace {

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).size) ++width;
  return width;
}

// What would break the line or steer the terminal is taken out.
std::string tame(const std::string& text) {
  std::string tamed;
  for (const char c : text) tamed += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return tamed;
}

}  // namespace

bool on_terminal(const std::ostream& out) { return &out == &std::cout && isatty(STDOUT_FILENO) != 0; }

bool in_colour(const std::ostream& out) {
  const char* without = std::getenv("NO_COLOR");
  return on_terminal(out) && (!without || *without == 0);
}

void Table::print(std::ostream& out) const {
  if (!on_terminal(out)) {
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) out << (i ? "\t" : "") << tame(row[i]);
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
      const std::string text = tame(row[i]);
      out << text;
      if (i + 1 < row.size()) out << std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    out << "\n";
  };
  const bool colour = in_colour(out);
  if (colour) out << "\033[2m";
  line(columns_);
  if (colour) out << "\033[0m";
  for (const auto& row : rows_) line(row);
}

}  // namespace cairn::cli
