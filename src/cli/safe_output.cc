#include "cli/safe_output.h"

#include <cstdio>

#include "base/utf8.h"

namespace cairn::cli {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\t';
}

// C1 controls affect terminals like ESC; bidirectional overrides display text in another order.
bool is_harmful(char32_t c) {
  return (c >= 0x7f && c <= 0x9f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::size_t length_of(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

constexpr std::string_view replacement = "\xef\xbf\xbd";

}  // namespace

SafeOutput::~SafeOutput() {
  if (have_ > 0) write_raw(replacement);
  stream_.rdbuf(to_);
}

std::streamsize SafeOutput::xsputn(const char* text, std::streamsize count) {
  std::streamsize at = 0;
  while (at < count) {
    std::streamsize end = at;
    if (have_ == 0) {
      while (end < count && is_plain(text[end])) ++end;
    }
    if (end > at) {
      if (to_->sputn(text + at, end - at) != end - at) return at;
      at = end;
    } else if (!put(text[at++])) {
      return at - 1;
    }
  }
  return count;
}

SafeOutput::int_type SafeOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  return put(traits_type::to_char_type(c)) ? c : traits_type::eof();
}

bool SafeOutput::put(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (have_ > 0) {
    if ((byte & 0xc0) == 0x80) {
      character_[have_++] = c;
      return have_ < need_ || put_character();
    }
    have_ = 0;
    if (to_->sputn(replacement.data(), 3) != 3) return false;
  }
  if (is_plain(c)) return !traits_type::eq_int_type(to_->sputc(c), traits_type::eof());
  if (byte < 0x80) {
    char escape[8];
    const int size = std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
    return to_->sputn(escape, size) == size;
  }
  need_ = length_of(byte);
  if (need_ == 0) return to_->sputn(replacement.data(), 3) == 3;
  character_[have_++] = c;
  return true;
}

bool SafeOutput::put_character() {
  const std::string_view bytes(character_.data(), need_);
  have_ = 0;
  if (!is_utf8(bytes)) return to_->sputn(replacement.data(), 3) == 3;
  const char32_t value = code_point_at(bytes, 0).value;
  if (!is_harmful(value)) return to_->sputn(bytes.data(), static_cast<std::streamsize>(need_)) > 0;
  char escape[8];
  const int size = std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(value));
  return to_->sputn(escape, size) == size;
}

void print_raw(std::ostream& out, std::string_view bytes) {
  if (auto* const filter = dynamic_cast<SafeOutput*>(out.rdbuf())) {
    filter->write_raw(bytes);
  } else {
    out << bytes;
  }
}

}  // namespace cairn::cli
