// The entry point of a target: it defines `fuzz`, which gets the bytes of one input as text. The other functions split
// an input into the arguments of the function under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

void fuzz(std::string_view input);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz(size == 0 ? std::string_view("") : std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

namespace cairn::fuzzing {

// Removes the first line and returns it without its end; all of the text if there is no line end.
[[maybe_unused]] inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

[[maybe_unused]] inline std::vector<std::string> take_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  return lines;
}

// Removes the first byte; 0 at the end.
[[maybe_unused]] inline std::uint8_t take_byte(std::string_view& text) {
  if (text.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(text.front());
  text.remove_prefix(1);
  return byte;
}

// Removes eight bytes; zeros stand for bytes after the end.
[[maybe_unused]] inline std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | take_byte(text);
  return number;
}

// `name: value` lines up to an empty line, with names in lower case, as the HTTP server passes them on.
[[maybe_unused]] inline std::vector<std::pair<std::string, std::string>> take_headers(std::string_view& text) {
  std::vector<std::pair<std::string, std::string>> headers;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    std::string name(line.substr(0, colon));
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    }
    headers.emplace_back(std::move(name), colon == std::string_view::npos ? "" : std::string(line.substr(colon + 1)));
  }
  return headers;
}

}  // namespace cairn::fuzzing
