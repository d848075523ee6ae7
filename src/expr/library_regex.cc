// Regular expressions (RE2: linear time, no back references).
#include <re2/re2.h>

#include "expr/function.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

const re2::RE2* prepare(Context& context, Args args) {
  const re2::RE2* program = context.regex(args[1].as_text());
  if (!program) return nullptr;
  const std::uint64_t factor = 1 + static_cast<std::uint64_t>(program->ProgramSize()) / 64;
  if (!context.spend_steps(args[0].as_text().size() / 8 * factor)) return nullptr;
  return program;
}

// Checks that the pattern has at most one group. The result is the group if there is one, otherwise the whole match.
bool one_group(Context& context, const re2::RE2& program) {
  if (program.NumberOfCapturingGroups() <= 1) return true;
  context.fail("invalid_argument", "the pattern has more than one group; make the others (?:…)");
  return false;
}

Value extract(Context& context, Args args) {
  const re2::RE2* program = prepare(context, args);
  if (!program || !one_group(context, *program)) return context.error();
  const std::string_view text = args[0].as_text();
  re2::StringPiece groups[2];
  const int wanted = program->NumberOfCapturingGroups();
  if (!program->Match(piece(text), 0, text.size(), re2::RE2::UNANCHORED, groups, wanted + 1)) return Value::none();
  if (wanted == 1 && groups[1].data() == nullptr) return Value::none();
  Value found = context.text({groups[wanted].data(), groups[wanted].size()});
  return context.failed() ? context.error() : context.some(std::move(found));
}

Value extract_all(Context& context, Args args) {
  const re2::RE2* program = prepare(context, args);
  if (!program || !one_group(context, *program)) return context.error();
  const std::string_view text = args[0].as_text();
  const int wanted = program->NumberOfCapturingGroups();
  Value::List found;
  std::size_t at = 0;
  while (at <= text.size()) {
    re2::StringPiece groups[2];
    if (!program->Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, groups, wanted + 1)) break;
    if (wanted == 0 || groups[1].data() != nullptr) {
      // Each match searches the rest of the text again.
      Value one = context.text({groups[wanted].data(), groups[wanted].size()});
      if (context.failed() || !context.spend_steps(4)) return context.error();
      found.push_back(std::move(one));
    }
    const std::size_t end = static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
    at = groups[0].empty() ? end + 1 : end;
  }
  return context.list(std::move(found));
}

Value replace_matches(Context& context, Args args) {
  const re2::RE2* program = prepare(context, args);
  if (!program) return context.error();
  const std::string_view text = args[0].as_text();
  const std::string_view by = args[2].as_text();
  std::string wrong;
  if (!program->CheckRewriteString(piece(by), &wrong)) {
    return context.fail("invalid_argument", "the replacement does not fit the pattern: " + wrong);
  }
  std::int64_t left = args.size() > 3 ? args[3].as_integer() : -1;
  const int groups_count = program->NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(groups_count));
  std::string out;
  std::size_t at = 0;
  std::size_t copied = 0;
  while (left != 0 && at <= text.size()) {
    if (!program->Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, groups.data(), groups_count)) break;
    const std::size_t begin = static_cast<std::size_t>(groups[0].data() - text.data());
    const std::size_t end = begin + groups[0].size();
    const std::size_t before = out.size();
    out.append(text.substr(copied, begin - copied));
    program->Rewrite(&out, piece(by), groups.data(), groups_count);
    if (!context.spend_bytes(out.size() - before) || !context.spend_steps(4)) return context.error();
    copied = end;
    at = end == begin ? end + 1 : end;
    if (left > 0) --left;
  }
  out.append(text.substr(copied));
  return context.text(out);
}

const Overload regex_overloads[] = {
    {"regex.extract(string, string) -> optional_type(string)", extract,
     "The first match, or its group when the pattern has one.",
     "regex.extract(\"order A-17\", \"[A-Z]-([0-9]+)\").value()", "\"17\""},
    {"regex.extractAll(string, string) -> list(string)", extract_all,
     "Every match, or its group when the pattern has one.", "regex.extractAll(\"a1 b22\", \"[0-9]+\")",
     "[\"1\", \"22\"]"},
    {"regex.replace(string, string, string) -> string", replace_matches,
     "Every match replaced; \\1 stands for the first group.",
     "regex.replace(\"2024-01\", \"([0-9]+)-([0-9]+)\", \"\\\\2/\\\\1\")", "\"01/2024\""},
    {"regex.replace(string, string, string, int) -> string", replace_matches,
     "The first matches replaced; a negative number means all.", "regex.replace(\"aaa\", \"a\", \"b\", 2)", "\"bba\""},
};

}  // namespace

Library library_regex() { return {"regex", regex_overloads}; }

}  // namespace cairn::expr
