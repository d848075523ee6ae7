#include "schema/pattern.h"

#include <re2/re2.h>

namespace cairn::schema {
namespace {

constexpr std::size_t pattern_bytes_max = 16u << 10;
constexpr std::int64_t automaton_bytes_max = 2 << 20;

re2::RE2::Options options() {
  re2::RE2::Options chosen;
  chosen.set_log_errors(false);
  chosen.set_never_capture(true);
  chosen.set_max_mem(automaton_bytes_max);
  return chosen;
}

}  // namespace

bool is_pattern_syntax(const std::string& text) { return re2::RE2(text, options()).ok(); }

Result<Pattern, std::string> Pattern::compile(std::string_view pattern) {
  if (pattern.size() > pattern_bytes_max) {
    return "the pattern is longer than " + std::to_string(pattern_bytes_max) + " bytes";
  }
  CAIRN_TRY(const TranslatedPattern translated, translate_pattern(pattern));
  if (!translated.unsupported.empty()) return translated.unsupported;
  auto automaton = std::make_unique<re2::RE2>(translated.re2, options());
  if (!automaton->ok()) return "the pattern cannot be used: " + automaton->error();
  return Pattern(std::string(pattern), std::move(automaton));
}

Pattern::Pattern(std::string source, std::unique_ptr<re2::RE2> automaton)
    : source_(std::move(source)), automaton_(std::move(automaton)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return automaton_->Match(piece, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::size_t Pattern::program_size() const { return static_cast<std::size_t>(automaton_->ProgramSize()); }

}  // namespace cairn::schema
