#include "api/help_pages.h"

#include <algorithm>

#include "api/embedded_console.h"
#include "http/gzip.h"

namespace cairn::api {
namespace {

constexpr std::string_view folder = "/help/", ending = ".md";
constexpr std::size_t page_bytes_max = 4u << 20;

}  // namespace

std::vector<std::string_view> help_page_names() {
  std::vector<std::string_view> names;
  for (const ConsoleFile& file : console_files()) {
    if (!file.path.starts_with(folder) || !file.path.ends_with(ending)) continue;
    names.push_back(file.path.substr(folder.size(), file.path.size() - folder.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> help_page(std::string_view name) {
  const std::string path = std::string(folder) + std::string(name) + std::string(ending);
  const auto files = console_files();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const ConsoleFile& file) { return file.path == path; });
  if (found == files.end()) return std::nullopt;
  const auto text = http::gunzip(found->gzip, page_bytes_max);
  if (!text) return std::nullopt;
  return *text;
}

}  // namespace cairn::api
