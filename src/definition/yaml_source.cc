#include "definition/yaml_source.h"

#include <yaml.h>

#include <optional>

#include "base/utf8.h"
#include "definition/core_schema.h"
#include "definition/scalar_places.h"
#include "definition/yaml_problem.h"

namespace cairn {
namespace {

// The bound is needed because libyaml compares every %TAG with every other one.
constexpr int tag_directives_max = 100;

constexpr std::string_view core_tag_prefix = "tag:yaml.org,2002:";

class Parser {
 public:
  explicit Parser(std::string_view text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() {
    release_event();
    if (ready_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // The next event, valid until the next call; nullptr if the text is not YAML.
  const yaml_event_t* next() {
    release_event();
    if (!ready_ || yaml_parser_parse(&parser_, &event_) == 0) return nullptr;
    held_ = true;
    return &event_;
  }
  const yaml_parser_t& get() const { return parser_; }

 private:
  void release_event() {
    if (held_) yaml_event_delete(&event_);
    held_ = false;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
  bool held_ = false;
};

std::string_view view_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

class YamlReader {
 public:
  YamlReader(const SourceText& text, SourceBuilder& builder) : text_(text), builder_(builder), parser_(text.view()) {}

  bool read() {
    if (!check_characters()) return false;
    for (;;) {
      const yaml_event_t* event = parser_.next();
      if (event == nullptr) {
        const YamlProblem problem = explain_yaml_problem(parser_.get(), text_);
        builder_.report(problem.at, problem.message);
        return false;
      }
      switch (event->type) {
        case YAML_STREAM_END_EVENT: return usable_;
        case YAML_DOCUMENT_START_EVENT:
          if (++documents_ > 1) {
            builder_.report(text_.offset_of(event->start_mark.index),
                            "a second document begins here; a file holds one definition");
            return false;
          }
          break;
        case YAML_SCALAR_EVENT: scalar(*event); break;
        case YAML_ALIAS_EVENT:
          if (!alias(*event)) return false;
          break;
        case YAML_SEQUENCE_START_EVENT:
          if (!begin(*event, event->data.sequence_start.anchor, event->data.sequence_start.tag, "seq")) return false;
          break;
        case YAML_MAPPING_START_EVENT:
          if (!begin(*event, event->data.mapping_start.anchor, event->data.mapping_start.tag, "map")) return false;
          break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
          builder_.end();
          levels_.pop_back();
          value_read();
          break;
        case YAML_NO_EVENT:
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT: break;
      }
    }
  }

 private:
  struct Level {
    bool map = false;
    bool key_next = false;
  };

  // Rejects the characters that UTF-8 allows but YAML does not.
  bool check_characters() {
    const std::string_view text = text_.view();
    int tag_directives = 0;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint c = code_point_at(text, i);
      const bool control = (c.value < 0x20 && c.value != '\t' && c.value != '\n' && c.value != '\r') ||
                           (c.value >= 0x7F && c.value < 0xA0) || c.value == 0xFEFF || c.value == 0xFFFE ||
                           c.value == 0xFFFF;
      // YAML 1.1 ends a line here, but YAML 1.2 and editors do not. A comment could therefore hide a step that runs,
      // and the parser would replace the character by a space inside quotes.
      if (c.value == 0x85 || c.value == 0x2028 || c.value == 0x2029) {
        const std::string hex = hex_of(c.value);
        builder_.report(i, "the line break U+" + hex + " is not allowed; write \"\\u" + hex + "\" in double quotes");
        return false;
      }
      if (control) {
        builder_.report(i, "the control character U+" + hex_of(c.value) + " is not allowed; is this a text file?");
        return false;
      }
      if (c.value == '%' && text.substr(i).starts_with("%TAG") && (i == 0 || text[i - 1] == '\n') &&
          ++tag_directives > tag_directives_max) {
        builder_.report(i, "too many %TAG directives; tags are not used in definitions");
        return false;
      }
      i += c.size;
    }
    return true;
  }

  static std::string hex_of(char32_t value) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string hex;
    for (int shift = 12; shift >= 0; shift -= 4) hex += digits[(value >> shift) & 15];
    return hex;
  }

  bool key_expected() const { return !levels_.empty() && levels_.back().map && levels_.back().key_next; }

  void value_read() {
    if (!levels_.empty() && levels_.back().map) levels_.back().key_next = true;
  }

  void key(std::string name, std::size_t at, bool wanted = true) {
    if (name.find('\0') != std::string::npos) {
      builder_.report(at, "U+0000 is not allowed in text");
      wanted = false;
    }
    builder_.key(std::move(name), at, wanted);
    levels_.back().key_next = false;
  }

  void check_tag(std::string_view tag, std::size_t at, std::string_view expected) {
    if (tag.empty() || tag == "!" || tag == std::string(core_tag_prefix) + std::string(expected)) return;
    refuse_tag(tag, at);
  }

  void refuse_tag(std::string_view tag, std::size_t at) {
    std::string shown(tag);
    if (tag.starts_with(core_tag_prefix)) shown = "!!" + shown.substr(core_tag_prefix.size());
    builder_.report(at, "the tag `" + shown + "` is not allowed here; definitions hold plain JSON values");
  }

  bool begin(const yaml_event_t& event, const yaml_char_t* anchor, const yaml_char_t* tag, std::string_view kind) {
    const std::size_t at = text_.offset_of(event.start_mark.index);
    if (key_expected()) {
      builder_.report(at, "a list or map cannot be a key; keys are text");
      return false;
    }
    check_tag(view_of(tag), at, kind);
    if (anchor != nullptr) builder_.anchor(std::string(view_of(anchor)));
    const bool map = event.type == YAML_MAPPING_START_EVENT;
    if (!(map ? builder_.begin_map(at) : builder_.begin_list(at))) return false;
    levels_.push_back({map, map});
    return true;
  }

  bool alias(const yaml_event_t& event) {
    const std::string name(view_of(event.data.alias.anchor));
    const std::size_t at = text_.offset_of(event.start_mark.index);
    if (!key_expected()) {
      if (!builder_.alias(name, at)) return false;
      value_read();
      return true;
    }
    const auto value = builder_.anchored_scalar(name);
    if (!value || !value->is_string()) {
      builder_.report(at, "the alias `*" + name + "` is used as a key but does not name text; keys are text");
      return false;
    }
    key(std::string(value->as_string()), at);
    return true;
  }

  void scalar(const yaml_event_t& event) {
    const auto& data = event.data.scalar;
    const std::size_t end = text_.offset_of(event.end_mark.index);
    const std::size_t start = text_.offset_of(event.start_mark.index);
    const std::size_t begin = skip_properties(text_.view(), start, end);
    const std::string_view content(reinterpret_cast<const char*>(data.value), data.length);
    const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string_view tag = view_of(data.tag);
    if (key_expected()) {
      scalar_key(content, begin, plain && tag.empty());
      // An anchor on a key is ignored, because it names nothing that an alias could use.
      return;
    }
    if (data.anchor != nullptr) builder_.anchor(std::string(view_of(data.anchor)));
    if (tag.empty()) {
      builder_.scalar(plain ? resolved(content, begin) : text(content, begin, end), begin, end);
    } else {
      builder_.scalar(tagged(content, tag, start, begin, end), begin, end);
    }
    value_read();
  }

  void scalar_key(std::string_view content, std::size_t at, bool plain) {
    const bool merge = plain && content == "<<";
    key(std::string(content), at, !merge);
    if (merge) {
      builder_.report(at,
                      "merge keys (`<<`) are not supported; write the members out, or use an alias for a whole value");
    } else if (plain && (content.empty() || content == "~" || content == "null")) {
      builder_.report(at, "null cannot be a key; keys are text, so put it in quotes");
      usable_ = false;
    }
  }

  Json tagged(std::string_view content, std::string_view tag, std::size_t tag_at, std::size_t begin, std::size_t end) {
    const std::string_view name = tag.starts_with(core_tag_prefix) ? tag.substr(core_tag_prefix.size()) : "";
    if (tag == "!" || name == "str") return text(content, begin, end);
    const Json value = resolved(content, begin);
    const bool fits = (name == "null" && value.is_null()) || (name == "bool" && value.is_bool()) ||
                      (name == "int" && value.is_integer()) || (name == "float" && value.is_number());
    if (!fits) refuse_tag(tag, tag_at);
    return name == "float" && value.is_integer() ? Json(value.as_double()) : value;
  }

  Json text(std::string_view content, std::size_t begin, std::size_t end) {
    if (const std::size_t nul = content.find('\0'); nul != std::string_view::npos) {
      builder_.report(source_offset(text_.view(), begin, end, content, nul), "U+0000 is not allowed in text");
      return Json("");
    }
    return Json(content);
  }

  Json resolved(std::string_view content, std::size_t begin) {
    auto value = resolve_plain(content);
    if (value) return std::move(value).value();
    builder_.report(begin, value.error().message);
    return Json(0);
  }

  const SourceText& text_;
  SourceBuilder& builder_;
  Parser parser_;
  std::vector<Level> levels_;
  int documents_ = 0;
  bool usable_ = true;
};

}  // namespace

bool read_yaml_source(const SourceText& text, SourceBuilder& builder) { return YamlReader(text, builder).read(); }

}  // namespace cairn
