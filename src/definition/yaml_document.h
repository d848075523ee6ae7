// Writes a YAML document as a person would: block style for structure, flow style for short values, quotes only where
// needed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace cairn {

struct YamlMember;

struct YamlNode {
  enum class Kind { scalar, text, list, map };
  Kind kind = Kind::scalar;
  std::string text;  // of a scalar: as written; of text: its content
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  // in the order they are written
  bool spread = false;              // always in block style, even if short
  std::string comment;              // a line above it, as an item of a list

  static YamlNode scalar(std::string written);
  static YamlNode of_text(std::string_view content);
  static YamlNode list();
  static YamlNode map();
  // Any JSON, unchanged.
  static YamlNode of_json(const Json& value);

  void put(std::string_view key, YamlNode value);
  void add(YamlNode item);
};

struct YamlMember {
  std::string key;
  YamlNode value;
  YamlMember(std::string_view name, YamlNode held) : key(name), value(std::move(held)) {}
};

inline YamlNode YamlNode::scalar(std::string written) { return {Kind::scalar, std::move(written), {}, {}, false, {}}; }
inline YamlNode YamlNode::of_text(std::string_view content) {
  return {Kind::text, std::string(content), {}, {}, false, {}};
}
inline YamlNode YamlNode::list() { return {Kind::list, {}, {}, {}, false, {}}; }
inline YamlNode YamlNode::map() { return {Kind::map, {}, {}, {}, false, {}}; }
inline void YamlNode::put(std::string_view key, YamlNode value) { members.emplace_back(key, std::move(value)); }
inline void YamlNode::add(YamlNode item) { items.push_back(std::move(item)); }

// The output reads back as the same values. The root is a map.
std::string write_yaml(const YamlNode& root);

// Writes text on one line as a scalar: plain if that reads back the same, otherwise quoted.
std::string quote_yaml(std::string_view text, bool in_flow);

}  // namespace cairn
