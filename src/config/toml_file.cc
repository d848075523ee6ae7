// The only file that includes toml++. It converts the library's exceptions to Error. The library has assertions where
// some malformed texts need an error, such as a line that begins with "[,". Here they throw, in all builds.
namespace cairn::config {
[[noreturn]] static void refuse_text();
}
#undef NDEBUG  // with it, the assertions are assumptions of the compiler
#define TOML_ASSERT(expr) (static_cast<bool>(expr) ? static_cast<void>(0) : cairn::config::refuse_text())
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <fstream>
#include <sstream>

#include "config/configuration.h"

namespace cairn::config {
namespace {

struct MalformedText {};

}  // namespace

static void refuse_text() { throw MalformedText(); }

namespace {

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, value] : *table) json.set(std::string(key.str()), to_json(value));
    return json;
  }
  if (const auto* array = node.as_array()) {
    Json json = Json::array();
    for (const auto& value : *array) json.push_back(to_json(value));
    return json;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
  if (const auto number = node.value_exact<double>()) return *number;
  if (const auto yes = node.value_exact<bool>()) return *yes;
  std::ostringstream text;  // dates and times, unchanged
  text << toml::node_view<const toml::node>(node);
  return text.str();
}

std::string plain_text(const toml::node& node) {
  if (const auto* array = node.as_array()) {
    std::string list;
    for (const auto& value : *array) list += (list.empty() ? "" : ",") + plain_text(value);
    return list;
  }
  const Json json = to_json(node);
  return json.is_string() ? std::string(json.as_string()) : write_json(json);
}

void flatten(const toml::table& table, const std::string& prefix, TomlFile& file) {
  for (const auto& [key, value] : table) {
    const std::string name = prefix + std::string(key.str());
    if (prefix.empty() && name == "config" && value.is_table()) {
      file.config = to_json(value);
    } else if (prefix.empty() && name == "events" && value.is_table()) {
      file.events = to_json(value);
    } else if (prefix.empty() && name == "secrets" && value.is_table()) {
      file.secrets = to_json(value);
    } else if (prefix.empty() && name == "hooks") {
      file.values[name] = {write_json(to_json(value)), static_cast<int>(value.source().begin.line)};
    } else if (const auto* inner = value.as_table()) {
      flatten(*inner, name + ".", file);
    } else {
      file.values[name] = {plain_text(value), static_cast<int>(value.source().begin.line)};
    }
  }
}

// The number of the line that makes the library refuse the text with an assertion: until then the beginning of the file
// is valid or has an ordinary error.
std::size_t malformed_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    text += line + "\n";
    try {
      static_cast<void>(toml::parse(text));
    } catch (const MalformedText&) {
      break;
    } catch (const toml::parse_error&) {  // may be inside a value of several lines
    }
  }
  return number;
}

}  // namespace

Result<TomlFile> read_toml(const std::string& path) {
  try {
    TomlFile file;
    flatten(toml::parse_file(path), "", file);
    return file;
  } catch (const toml::parse_error& failure) {
    const auto line = failure.source().begin.line;
    return Error{ErrorCode::invalid,
                 path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + std::string(failure.description())};
  } catch (const MalformedText&) {
    return Error{ErrorCode::invalid,
                 path + ":" + std::to_string(malformed_line(path)) + ": this line is not valid TOML"};
  }
}

}  // namespace cairn::config
