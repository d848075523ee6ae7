#include "definition/json_source.h"

namespace cairn {
namespace {

class SourceHandler {
 public:
  SourceHandler(std::string_view text, SourceBuilder& builder) : text_(text), builder_(builder) {}

  void null(std::size_t at) { builder_.scalar({}, at, at + 4); }
  void boolean(std::size_t at, bool value) { builder_.scalar(value, at, at + (value ? 4 : 5)); }
  void integer(std::size_t at, std::int64_t value) { builder_.scalar(static_cast<long long>(value), at, at); }
  void number(std::size_t at, double value) { builder_.scalar(value, at, at); }
  void string(std::size_t at, std::string_view value) { builder_.scalar(value, at, string_end(at)); }
  // The scanner has already checked the depth, so these always succeed.
  void begin_array(std::size_t at) { builder_.begin_list(at); }
  void begin_object(std::size_t at) { builder_.begin_map(at); }
  void end_array(std::size_t) { builder_.end(); }
  void end_object(std::size_t) { builder_.end(); }
  bool key(std::size_t at, std::string_view name) {
    builder_.key(std::string(name), at);
    return true;
  }

 private:
  std::size_t string_end(std::size_t begin) const {
    std::size_t at = begin + 1;
    while (at < text_.size() && text_[at] != '"') at += text_[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text_.size());
  }

  std::string_view text_;
  SourceBuilder& builder_;
};

}  // namespace

std::optional<JsonFault> read_json_source(const SourceText& text, const Limits& limits, SourceBuilder& builder) {
  SourceHandler handler(text.view(), builder);
  const JsonLimits json_limits{limits.definition_bytes_max, limits.json_depth_max};
  auto scanned = JsonScanner<SourceHandler>(text.view(), json_limits, handler).scan();
  if (scanned) return std::nullopt;
  return std::move(scanned).error();
}

}  // namespace cairn
