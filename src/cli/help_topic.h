// `cairn help TOPIC`: a page of the documentation, as text for a terminal.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

// The pages by name, as in api/help_pages.h.
struct HelpLibrary {
  std::vector<std::string_view> names;
  std::function<std::optional<std::string>(std::string_view name)> read;
};

// Prints the page that `words` name: its name, the last part of its name, or words of its title that no other page has.
// Otherwise prints the names and titles of the pages that contain the words. False: no page; prints nothing.
bool print_help_topic(const HelpLibrary& library, std::span<const std::string> words, std::ostream& out);

// Markdown as text: without marks and pictures, code indented, and links to other pages with their topic. `name` is the
// page's own, because links are relative to it.
std::string help_text(std::string_view markdown, std::string_view name);

}  // namespace cairn::cli
