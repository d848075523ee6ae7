#include "definition/yaml_problem.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace cairn {
namespace {

struct QuotedText {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The brackets and quotes that were open when the parser stopped.
struct OpenParts {
  std::vector<std::size_t> brackets;
  std::optional<QuotedText> last_quoted;
};

OpenParts open_parts(const SourceText& text, std::size_t until) {
  OpenParts open;
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return open;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.view().data()), text.view().size());
  yaml_token_t token;
  bool more = true;
  while (more && yaml_parser_scan(&parser, &token) != 0) {
    const std::size_t begin = text.offset_of(token.start_mark.index);
    more = token.type != YAML_STREAM_END_TOKEN && token.type != YAML_NO_TOKEN && begin < until;
    if (more) {
      switch (token.type) {
        case YAML_FLOW_SEQUENCE_START_TOKEN:
        case YAML_FLOW_MAPPING_START_TOKEN: open.brackets.push_back(begin); break;
        case YAML_FLOW_SEQUENCE_END_TOKEN:
        case YAML_FLOW_MAPPING_END_TOKEN:
          if (!open.brackets.empty()) open.brackets.pop_back();
          break;
        case YAML_SCALAR_TOKEN:
          if (token.data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
              token.data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) {
            open.last_quoted = QuotedText{begin, text.offset_of(token.end_mark.index)};
          }
          break;
        default: break;
      }
    }
    yaml_token_delete(&token);
  }
  yaml_parser_delete(&parser);
  return open;
}

// Whether the bracket at `begin` is closed. It scans the text and skips quoted parts.
bool is_closed(std::string_view text, std::size_t begin) {
  std::vector<char> open;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == ']' || c == '}') {
      if (open.back() != (c == ']' ? '[' : '{')) return false;
      open.pop_back();
      if (open.empty()) return true;
    } else if (c == '"' || c == '\'') {
      const char before = text[i - 1];
      if (before != ' ' && before != ',' && before != '[' && before != '{' && before != ':') continue;
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += c == '"' && text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) return false;
      i = end;
    }
  }
  return false;
}

// The offset of a tab in the indentation of the line that contains `at`.
std::optional<std::size_t> tab_in_indentation(std::string_view text, std::size_t at) {
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  for (std::size_t i = line; i < text.size() && (text[i] == ' ' || text[i] == '\t'); ++i) {
    if (text[i] == '\t') return i;
  }
  return std::nullopt;
}

std::string shown_character(std::string_view text, std::size_t at) {
  return at < text.size() ? std::string(text.substr(at, code_point_at(text, at).size)) : "the end of the file";
}

class Explanation {
 public:
  Explanation(const yaml_parser_t& parser, const SourceText& text)
      : text_(text),
        problem_(parser.problem == nullptr ? "" : parser.problem),
        context_(parser.context == nullptr ? "" : parser.context),
        at_(text.offset_of(parser.problem_mark.index)),
        context_at_(text.offset_of(parser.context_mark.index)) {}

  YamlProblem make() const {
    if (problem_.empty()) return {at_, "the text cannot be read as YAML"};
    if (const auto tab = tab_problem()) return {*tab, "a tab is used to indent; YAML indents with spaces only"};
    if (context_.ends_with(" a quoted scalar")) return quoted_problem();
    if (context_ == "while scanning a simple key") {
      return {context_at_, "expected `:` after this key; text that is no key belongs on the line of its key"};
    }
    const OpenParts open = open_parts(text_, at_);
    if (!open.brackets.empty()) return bracket_problem(open.brackets.back());
    if (const auto unclosed = unclosed_quote(open)) return *unclosed;
    return block_problem();
  }

 private:
  bool says(std::string_view part) const { return problem_.find(part) != std::string_view::npos; }

  std::optional<std::size_t> tab_problem() const {
    const std::string_view text = text_.view();
    if (at_ < text.size() && text[at_] == '\t' && (says("tab") || says("cannot start any token"))) return at_;
    if (says("tab") || says("did not find expected key") || says("mapping values") || says("expected ':'") ||
        says("'-' indicator") || says("document start")) {
      if (const auto tab = tab_in_indentation(text, at_)) return tab;
      if (!context_.empty() && says("expected ':'")) return tab_in_indentation(text, context_at_);
    }
    return std::nullopt;
  }

  YamlProblem quoted_problem() const {
    const std::string_view text = text_.view();
    // The parser stops inside the escape.
    const std::size_t backslash = std::min(text.rfind('\\', at_), at_);
    if (says("unknown escape")) {
      return {backslash, "unknown escape `\\" + shown_character(text, backslash + 1) +
                             "` in double quotes; write `\\\\` for a backslash, or use single quotes"};
    }
    if (says("hexdecimal")) return {backslash, "the escape needs hexadecimal digits: \\xXX, \\uXXXX or \\UXXXXXXXX"};
    if (says("invalid Unicode")) {
      return {backslash, "the escape does not name a character; a lone surrogate is not allowed in text"};
    }
    return unclosed_quote_at(context_at_);
  }

  YamlProblem unclosed_quote_at(std::size_t begin) const {
    return {begin, std::string("the quote `") + shown_character(text_.view(), begin) + "` opened at " +
                       to_string(text_.place(begin)) + " is never closed"};
  }

  // `name: "loan` ends at the next quote of the file, some lines below, and the parser fails there.
  std::optional<YamlProblem> unclosed_quote(const OpenParts& open) const {
    if (!open.last_quoted) return std::nullopt;
    const SourcePlace begin = text_.place(open.last_quoted->begin);
    const SourcePlace end = text_.place(open.last_quoted->end);
    if (end.line == begin.line || text_.place(at_).line != end.line) return std::nullopt;
    return YamlProblem{open.last_quoted->begin, "the quote opened at " + to_string(begin) + " is closed only at " +
                                                    to_string(end) + "; is its end missing?"};
  }

  YamlProblem bracket_problem(std::size_t bracket) const {
    const char open = text_.view()[bracket];
    const std::string close = open == '[' ? "`]`" : "`}`";
    const std::string opened = to_string(text_.place(bracket));
    if (!is_closed(text_.view(), bracket)) {
      return {bracket, std::string("the `") + open + "` opened at " + opened + " is never closed"};
    }
    if (says("cannot start any token")) return token_problem();
    return {at_, "expected `,` or " + close + " here, in the `" + open + "` opened at " + opened};
  }

  YamlProblem token_problem() const {
    return {at_, "text cannot begin with `" + shown_character(text_.view(), at_) + "`; put it in quotes"};
  }

  YamlProblem block_problem() const {
    if (says("cannot start any token")) return token_problem();
    if (says("mapping values are not allowed")) {
      return {at_, "a `:` is not allowed here; check the indentation, and put text that contains `: ` in quotes"};
    }
    if (says("block sequence entries")) return {at_, "a list item cannot begin here; put `-` on a line of its own"};
    if (says("mapping keys are not allowed")) return {at_, "a key cannot begin here; check the indentation"};
    if (says("expected key")) {
      return {at_, "this does not fit the map that begins at " + to_string(text_.place(context_at_)) +
                       "; check the indentation and the quotes"};
    }
    if (says("'-' indicator")) {
      return {at_, "this does not fit the list that begins at " + to_string(text_.place(context_at_)) +
                       "; expected `-`, or check the indentation"};
    }
    if (context_ == "while scanning an alias" || context_ == "while scanning an anchor") {
      const std::size_t sign = context_at_;
      return {sign, "`" + shown_character(text_.view(), sign) + "` begins an " +
                        (context_ == "while scanning an alias" ? "alias" : "anchor") +
                        " in YAML; put the text in quotes"};
    }
    if (says("tag") || context_.find("tag") != std::string_view::npos)
      return {at_, "tags (`!`) are not allowed; put text that begins with `!` in quotes"};
    if (context_.find("block scalar") != std::string_view::npos) {
      return {at_, "the text block that begins at " + to_string(text_.place(context_at_)) +
                       " has a wrong head; it is `|` or `>` with an optional `-`, `+` or digit"};
    }
    if (context_.find("directive") != std::string_view::npos || says("directive") || says("incompatible YAML")) {
      return {at_, "this YAML directive cannot be read; definitions need none"};
    }
    if (says("expected node content")) {
      return {at_, "expected a value, found `" + shown_character(text_.view(), at_) +
                       "`; put text that begins so in quotes"};
    }
    if (says("unexpected ':'")) return {at_, "a `:` is not allowed inside this text; put the text in quotes"};
    if (says("document start")) return {at_, "unexpected text after the end of the document"};
    return {at_, "not valid YAML: " + std::string(problem_)};
  }

  const SourceText& text_;
  std::string_view problem_;
  std::string_view context_;
  std::size_t at_;
  std::size_t context_at_;
};

}  // namespace

YamlProblem explain_yaml_problem(const yaml_parser_t& parser, const SourceText& text) {
  if (parser.error == YAML_MEMORY_ERROR) return {0, "not enough memory to read the text"};
  if (parser.error == YAML_READER_ERROR) return {parser.problem_offset, "a character that YAML does not allow"};
  return Explanation(parser, text).make();
}

}  // namespace cairn
