#include "definition/source.h"

#include <algorithm>

#include "base/utf8.h"
#include "definition/json_source.h"
#include "definition/scalar_places.h"
#include "definition/source_builder.h"
#include "definition/yaml_source.h"

namespace cairn {
namespace {

std::string_view encoding_by_mark(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  // Without a byte order mark: every other byte of ASCII letters is zero.
  const bool zeroes = text.size() >= 4 && ((text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0) ||
                                           (text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0));
  return zeroes ? "UTF-16" : "";
}

void report(SourcePlace place, std::string message, std::vector<Diagnostic>& findings) {
  findings.push_back({Diagnostic::Severity::error, place.line, place.column, std::move(message), ""});
}

// Rejects bytes that neither reader can process.
bool check_bytes(std::string_view bytes, const Limits& limits, std::vector<Diagnostic>& findings) {
  if (bytes.size() > limits.definition_bytes_max) {
    report({1, 1},
           "the file has " + std::to_string(bytes.size()) + " bytes, more than the limit of " +
               std::to_string(limits.definition_bytes_max),
           findings);
    return false;
  }
  if (const std::string_view encoding = encoding_by_mark(bytes); !encoding.empty()) {
    report({1, 1}, "the file is " + std::string(encoding) + "; save it as UTF-8", findings);
    return false;
  }
  const std::size_t nul = bytes.find('\0');
  const std::size_t invalid = find_invalid_utf8(bytes);
  if (nul == std::string_view::npos && invalid == std::string_view::npos) return true;
  const std::size_t first = std::min(nul, invalid);
  const LineColumn place = line_column_at(bytes, first);
  report(
      {place.line, place.column},
      first == nul ? "a NUL byte; this is a binary file, not a definition" : "not valid UTF-8; save the file as UTF-8",
      findings);
  return false;
}

}  // namespace

SourceDocument SourceDocument::read(std::string_view text, const Limits& limits, std::vector<Diagnostic>& findings) {
  SourceDocument document;
  if (!check_bytes(text, limits, findings)) return document;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  document.text_ = SourceText(text);

  const auto finish = [&](SourceBuilder& builder, bool usable) {
    if (builder.empty() && usable) {
      report({1, 1}, "the file is empty", findings);
      return;
    }
    const bool too_many = usable && builder.nodes() > limits.definition_nodes_max;
    if (too_many) {
      report({1, 1},
             "the document has " + std::to_string(builder.nodes()) + " nodes, more than the limit of " +
                 std::to_string(limits.definition_nodes_max),
             findings);
    }
    document.usable_ = usable && !too_many;
    if (document.usable_) document.root_ = builder.take();
  };

  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::optional<JsonFault> fault;
  std::vector<Diagnostic> found;
  if (first != std::string_view::npos && text[first] == '{') {
    SourceBuilder builder(document.text_, limits, found);
    fault = read_json_source(document.text_, limits, builder);
    if (!fault) finish(builder, true);
  }
  if (first == std::string_view::npos || text[first] != '{' || fault) {
    found.clear();
    SourceBuilder builder(document.text_, limits, found);
    const bool usable = read_yaml_source(document.text_, builder);
    // Text whose first key is in double quotes is meant as JSON, even where YAML would accept it with another meaning
    // (`NaN` as text, an extra comma). For an unclosed bracket, the YAML reader reports the better place.
    const bool never_closed = !usable && !found.empty() && found.back().message.ends_with("is never closed");
    const std::size_t second = fault ? text.find_first_not_of(" \t\r\n", first + 1) : std::string_view::npos;
    const bool like_json = second != std::string_view::npos && (text[second] == '"' || text[second] == '}');
    const bool yaml_knows = never_closed || (usable && !found.empty());
    if (fault && like_json && !yaml_knows) {
      found.clear();
      report(document.text_.place(fault->offset), fault->message, found);
    } else {
      finish(builder, usable);
    }
  }
  findings.insert(findings.end(), found.begin(), found.end());
  std::stable_sort(findings.begin(), findings.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return document;
}

SourcePlace SourceDocument::place_in(const SourceNode& node, std::size_t offset) const {
  if (!node.scalar.is_string()) return node.at;
  return text_.place(source_offset(text_.view(), node.begin, node.end, node.scalar.as_string(), offset));
}

const SourceMember* SourceNode::find_member(std::string_view key) const {
  for (const SourceMember& member : members) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

const SourceNode* SourceNode::find(std::string_view key) const {
  const SourceMember* member = find_member(key);
  return member == nullptr ? nullptr : &member->value;
}

Json SourceNode::to_json() const {
  if (kind == Json::Kind::array) {
    Json::Array list;
    list.reserve(items.size());
    for (const SourceNode& item : items) list.push_back(item.to_json());
    return Json(std::move(list));
  }
  if (kind == Json::Kind::object) {
    Json::Members object;
    object.reserve(members.size());
    for (const SourceMember& member : members) object.emplace_back(member.key, member.value.to_json());
    return Json::object(std::move(object));
  }
  return scalar;
}

}  // namespace cairn
