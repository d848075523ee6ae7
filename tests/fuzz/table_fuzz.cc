// Any texts in a table, one a line: a pipe gets one line per row and as many fields as columns.
#include "cli/table.h"

#include <algorithm>
#include <sstream>

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::size_t columns = fuzzing::take_byte(input) % 4;
  const std::string all(input);
  cli::Table table({"A", "B"});
  std::size_t rows = 0;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\1'), input.size());
    table.add({std::string(input.substr(0, end)), "x"});
    input.remove_prefix(std::min(end + 1, input.size()));
    ++rows;
  }
  std::ostringstream out;
  table.print(out);
  const std::string text = out.str();
  CAIRN_ASSERT(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == rows);
  CAIRN_ASSERT(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\t')) == rows);
  const auto lines = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
  CAIRN_ASSERT(cli::rows_of(all, columns) >= lines && cli::rows_of(all, columns) <= lines + all.size() + 1);
}
