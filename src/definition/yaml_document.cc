#include "definition/yaml_document.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "definition/core_schema.h"

namespace cairn {
namespace {

constexpr std::size_t yaml_columns_max = 110;
constexpr std::size_t flow_columns_max = 76;
constexpr int flow_levels_max = 3;
constexpr std::size_t indent_columns = 2;
// A longer key must be announced with `?`. YAML allows 1024 characters with quotes and escapes.
constexpr std::size_t simple_key_bytes_max = 150;

bool is_flow_indicator(char c) { return std::string_view(",[]{}").find(c) != std::string_view::npos; }

// Whether all characters can be written unescaped between quotes.
bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0) || c.value == 0x2028 || c.value == 0x2029 ||
        c.value == 0xFEFF || c.value == 0xFFFE || c.value == 0xFFFF) {
      return false;
    }
    i += c.size;
  }
  return true;
}

// Words that YAML 1.1 readers treat as booleans.
bool is_old_boolean(std::string_view text) {
  static constexpr std::string_view words[] = {"yes", "no", "on", "off"};
  if (text.size() > 3) return false;
  return std::find(std::begin(words), std::end(words), ascii_lower(text)) != std::end(words);
}

bool reads_plain(std::string_view text, bool in_flow) {
  if (text.empty() || text == "<<" || is_plain_value(text) || is_old_boolean(text) || !is_printable(text)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view("?:,[]{}#&*!|>'\"%@`").find(text.front()) != std::string_view::npos) return false;
  if (text.front() == '-' && (text.size() == 1 || text[1] == ' ' || is_flow_indicator(text[1]))) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  if (!in_flow) return true;
  return std::none_of(text.begin(), text.end(), is_flow_indicator) && text.find('?') == std::string_view::npos;
}

std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const std::string_view bytes = text.substr(i, c.size);
    i += c.size;
    switch (c.value) {
      case '"': out += "\\\""; continue;
      case '\\': out += "\\\\"; continue;
      case '\n': out += "\\n"; continue;
      case '\t': out += "\\t"; continue;
      case '\r': out += "\\r"; continue;
      default: break;
    }
    if (is_printable(bytes)) {
      out += bytes;
      continue;
    }
    static constexpr char digits[] = "0123456789ABCDEF";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[(c.value >> shift) & 15];
  }
  return out + '"';
}

// Whether a literal block reproduces these lines unchanged.
bool fits_block(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.front() == '\n' || text.front() == '\t') return false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.front() == '\t')) return false;
    std::string shown(line);
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    if (!is_printable(shown)) return false;
    begin = end + 1;
  }
  return true;
}

// Some readers end a comment at other line breaks too. Unprintable characters therefore become spaces.
std::string comment_line(std::string_view text) {
  std::string line = "# ";
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const std::string_view bytes = text.substr(i, c.size);
    line += is_printable(bytes) ? bytes : std::string_view(" ");
    i += c.size;
  }
  return line;
}

class YamlWriter {
 public:
  std::string write(const YamlNode& root) {
    members(root, 0, false);
    return std::move(out_);
  }

 private:
  static bool holds_spread(const YamlNode& node) {
    if (node.spread || !node.comment.empty()) return true;
    if (node.kind == YamlNode::Kind::text && node.text.find('\n') != std::string::npos) return true;
    return std::any_of(node.items.begin(), node.items.end(), holds_spread) ||
           std::any_of(node.members.begin(), node.members.end(),
                       [](const auto& member) { return holds_spread(member.value); });
  }

  // Several plain values, as in a table: one line each is easiest to read.
  static bool is_record(const YamlNode& map) {
    return map.members.size() > 1 && std::all_of(map.members.begin(), map.members.end(), [](const auto& member) {
             return member.value.kind == YamlNode::Kind::scalar || member.value.kind == YamlNode::Kind::text;
           });
  }

  static int levels(const YamlNode& node) {
    int deepest = 0;
    for (const YamlNode& item : node.items) deepest = std::max(deepest, levels(item));
    for (const auto& [key, value] : node.members) deepest = std::max(deepest, levels(value));
    return node.kind == YamlNode::Kind::list || node.kind == YamlNode::Kind::map ? deepest + 1 : 0;
  }

  static std::string in_flow(const YamlNode& node) {
    switch (node.kind) {
      case YamlNode::Kind::scalar: return node.text;
      case YamlNode::Kind::text: return quote_yaml(node.text, true);
      case YamlNode::Kind::list: {
        if (node.items.empty()) return "[]";
        // Brackets get inner spaces only if they hold more than scalars.
        const bool airy = std::any_of(node.items.begin(), node.items.end(), [](const YamlNode& item) {
          return item.kind == YamlNode::Kind::list || item.kind == YamlNode::Kind::map;
        });
        std::string text = airy ? "[ " : "[";
        for (const YamlNode& item : node.items) text += (&item == &node.items.front() ? "" : ", ") + in_flow(item);
        return text + (airy ? " ]" : "]");
      }
      case YamlNode::Kind::map: {
        if (node.members.empty()) return "{}";
        std::string text = "{ ";
        for (const auto& member : node.members) {
          text += (&member == &node.members.front() ? "" : ", ") + quote_yaml(member.key, true) + ": " +
                  in_flow(member.value);
        }
        return text + " }";
      }
    }
    return {};
  }

  // The node on one line if it should be written so at this column, otherwise empty.
  static std::string on_one_line(const YamlNode& node, std::size_t column) {
    if (holds_spread(node) || levels(node) > flow_levels_max) return {};
    std::string text = in_flow(node);
    const std::size_t width = count_code_points(text);
    return width <= flow_columns_max && column + width <= yaml_columns_max ? text : std::string();
  }

  void scalar(const YamlNode& node, std::size_t indent) {
    if (node.kind == YamlNode::Kind::scalar) {
      out_ += node.text;
    } else if (node.text.find('\n') == std::string::npos) {
      out_ += quote_yaml(node.text, false);
    } else if (!fits_block(node.text)) {
      out_ += in_double_quotes(node.text);
    } else {
      block_text(node.text, indent);
      return;
    }
    out_ += '\n';
  }

  void block_text(std::string_view text, std::size_t indent) {
    const bool ends = text.ends_with('\n');
    out_ += !ends ? "|-\n" : text.ends_with("\n\n") ? "|+\n" : "|\n";
    if (ends) text.remove_suffix(1);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) out_.append(indent, ' ').append(text.substr(begin, end - begin));
      out_ += '\n';
      begin = end + 1;
    }
  }

  // Writes the value after `key:`, on the same line or below. Deeper lines begin at `indent`.
  void value(const YamlNode& node, std::size_t indent) {
    if (node.kind == YamlNode::Kind::scalar || node.kind == YamlNode::Kind::text) {
      out_ += ' ';
      scalar(node, indent);
      return;
    }
    const std::size_t line = out_.rfind('\n') + 1;
    const bool empty = node.items.empty() && node.members.empty();
    const std::string flow = empty ? in_flow(node) : on_one_line(node, out_.size() - line + 1);
    if (!flow.empty()) {
      out_ += ' ' + flow + '\n';
    } else if (node.kind == YamlNode::Kind::list) {
      out_ += '\n';
      list(node, indent);
    } else {
      out_ += '\n';
      members(node, indent, false);
    }
  }

  void members(const YamlNode& map, std::size_t indent, bool first_stands) {
    for (const auto& [key, node] : map.members) {
      if (!first_stands) out_.append(indent, ' ');
      first_stands = false;
      if (key.size() > simple_key_bytes_max) {
        out_.append("? ").append(quote_yaml(key, false)).append("\n").append(indent, ' ');
      } else {
        out_ += quote_yaml(key, false);
      }
      out_ += ':';
      value(node, indent + indent_columns);
    }
  }

  void list(const YamlNode& node, std::size_t indent) {
    for (const YamlNode& item : node.items) {
      if (!item.comment.empty()) out_.append(indent, ' ').append(comment_line(item.comment)).append("\n");
      out_.append(indent, ' ').append("- ");
      if (item.kind == YamlNode::Kind::map && !item.members.empty()) {
        const std::string flow = is_record(item) ? on_one_line(item, indent + 2) : std::string();
        if (flow.empty()) {
          members(item, indent + indent_columns, true);
        } else {
          out_ += flow + '\n';
        }
      } else if (item.kind == YamlNode::Kind::list && !item.items.empty()) {
        const std::string flow = on_one_line(item, indent + 2);
        if (flow.empty()) {
          out_.pop_back();
          out_ += '\n';
          list(item, indent + indent_columns);
        } else {
          out_ += flow + '\n';
        }
      } else if (item.kind == YamlNode::Kind::text) {
        scalar(item, indent + indent_columns);
      } else {
        out_ += in_flow(item) + '\n';
      }
    }
  }

  std::string out_;
};

}  // namespace

std::string quote_yaml(std::string_view text, bool in_flow) {
  if (reads_plain(text, in_flow)) return std::string(text);
  if (!is_printable(text)) return in_double_quotes(text);
  if (text.find('\'') == std::string_view::npos) return "'" + std::string(text) + "'";
  if (text.find_first_of("\"\\") == std::string_view::npos) return '"' + std::string(text) + '"';
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

YamlNode YamlNode::of_json(const Json& value) {
  if (value.is_string()) return of_text(value.as_string());
  if (value.is_array()) {
    YamlNode node = list();
    for (const Json& item : value.items()) node.add(of_json(item));
    return node;
  }
  if (value.is_object()) {
    YamlNode node = map();
    for (const Json::Member& member : value.members()) node.put(member.key.view(), of_json(member.value));
    return node;
  }
  return scalar(write_json(value));
}

std::string write_yaml(const YamlNode& root) { return YamlWriter().write(root); }

}  // namespace cairn
