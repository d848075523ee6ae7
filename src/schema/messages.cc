#include "schema/messages.h"

namespace cairn::schema {
namespace {

constexpr std::size_t shown_bytes_max = 80;

std::string cut(std::string_view text) {
  if (text.size() <= shown_bytes_max) return std::string(text);
  std::size_t end = shown_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out(1, '`');
  out += cut(text);
  out += '`';
  return out;
}

std::string shown(const Json& value) {
  if (value.is_string() && value.as_string().size() > shown_bytes_max) {
    std::string out;
    write_json_string(cut(value.as_string()), out);
    return out;
  }
  return cut(write_json(value));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string kind_with_article(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::integer: return "an integer";
    case Json::Kind::array: return "an array";
    case Json::Kind::object: return "an object";
    case Json::Kind::boolean:
    case Json::Kind::number:
    case Json::Kind::string: break;
  }
  return std::string("a ") + to_string(kind);
}

}  // namespace cairn::schema
