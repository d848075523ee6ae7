#include "cli/help_topic.h"

#include <algorithm>
#include <cctype>

namespace cairn::cli {
namespace {

constexpr std::size_t listed_max = 15;

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& one : small) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return small;
}

std::string_view last_part(std::string_view name) {
  const std::size_t cut = name.rfind('/');
  return cut == std::string_view::npos ? name : name.substr(cut + 1);
}

// Whether a word of the text begins with `word`. Both are in lower case.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))) return true;
  }
  return false;
}

// The name of the page that a link leads to: `../concepts/time.md#now` on how-to/x is concepts/time. Empty: no page.
std::string topic_of(std::string_view target, std::string_view page) {
  target = target.substr(0, target.find('#'));
  if (!target.ends_with(".md") || target.find("://") != std::string_view::npos) return "";
  target.remove_suffix(3);
  const std::size_t cut = page.rfind('/');
  std::string folder(cut == std::string_view::npos ? std::string_view() : page.substr(0, cut + 1));
  while (target.starts_with("../")) {
    target.remove_prefix(3);
    if (folder.empty()) return "";  // outside of the documentation
    folder.pop_back();
    const std::size_t parent = folder.rfind('/');
    folder.resize(parent == std::string::npos ? 0 : parent + 1);
  }
  return folder + std::string(target);
}

// One line without the marks of Markdown.
std::string plain(std::string_view line, std::string_view page) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '`') {  // code stays as it is
      const std::size_t end = line.find('`', at + 1);
      if (end != std::string_view::npos) {
        text += line.substr(at, end + 1 - at);
        at = end + 1;
        continue;
      }
    }
    if (line.substr(at).starts_with("**")) {
      at += 2;
      continue;
    }
    if (line[at] == '[') {
      const std::size_t middle = line.find("](", at);
      const std::size_t end = middle == std::string_view::npos ? middle : line.find(')', middle);
      if (end != std::string_view::npos && line.substr(at + 1, middle - at - 1).find('[') == std::string_view::npos) {
        const std::string_view target = line.substr(middle + 2, end - middle - 2);
        const std::string topic = topic_of(target, page);
        text += plain(line.substr(at + 1, middle - at - 1), page);
        if (!topic.empty()) text += " (" + topic + ")";
        if (target.starts_with("http")) text += " (" + std::string(target) + ")";
        at = end + 1;
        continue;
      }
    }
    text += line[at++];
  }
  return text;
}

std::string title_of(std::string_view markdown) {
  const std::string_view line = markdown.substr(0, markdown.find('\n'));
  return plain(line.starts_with("# ") ? line.substr(2) : line, "");
}

bool print_page(const HelpLibrary& library, std::string_view name, std::ostream& out) {
  const auto page = library.read(name);
  if (!page) return false;
  out << help_text(*page, name);
  return true;
}

}  // namespace

std::string help_text(std::string_view markdown, std::string_view name) {
  std::string text;
  bool is_code = false, is_comment = false, was_empty = true;
  while (!markdown.empty()) {
    const std::size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (words.starts_with("```")) {
      is_code = !is_code;
      continue;
    }
    if (!is_code && (is_comment || words.starts_with("<!--"))) {
      is_comment = words.find("-->") == std::string_view::npos;
      continue;
    }
    if (!is_code && words.starts_with("![")) continue;
    if (words.empty() && was_empty && !is_code) continue;
    was_empty = words.empty();
    if (is_code) {
      if (!line.empty()) text += "    ";
      text += line;
    } else {
      text += plain(line, name);
    }
    text += "\n";
  }
  return text;
}

bool print_help_topic(const HelpLibrary& library, std::span<const std::string> words, std::ostream& out) {
  if (words.empty()) return false;
  std::string wanted = lower(words.size() == 1 ? words[0] : "");
  if (wanted == "topics") wanted = "index";
  for (const std::string_view name : library.names) {
    if (name == wanted) return print_page(library, name, out);
  }
  for (const std::string_view name : library.names) {
    if (last_part(name) == wanted) return print_page(library, name, out);
  }

  struct Found {
    std::string_view name;
    std::string title;
    std::size_t in_title = 0;
  };
  std::vector<Found> found;
  for (const std::string_view name : library.names) {
    const auto page = library.read(name);
    if (!page) continue;
    const std::string text = lower(*page);
    Found one{name, title_of(*page)};
    const std::string title = lower(one.title) + " " + lower(name);
    const bool has_all = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      one.in_title += has_word(title, lower(word)) ? 1 : 0;
      return has_word(text, lower(word));
    });
    if (has_all) found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.in_title > b.in_title; });
  if (found.empty()) return false;
  // A page that is about all of the words, and no other one is.
  const auto is_about = [&](const Found& one) { return one.in_title == words.size(); };
  if (std::count_if(found.begin(), found.end(), is_about) == 1) return print_page(library, found.front().name, out);
  if (found.size() > listed_max) found.resize(listed_max);
  std::size_t width = 0;
  for (const Found& one : found) width = std::max(width, one.name.size());
  for (const Found& one : found) {
    out << "  " << one.name << std::string(width - one.name.size() + 2, ' ') << one.title << "\n";
  }
  out << "\n`cairn help TOPIC` shows one of them.\n";
  return true;
}

}  // namespace cairn::cli
