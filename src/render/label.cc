#include "render/label.h"

#include "base/utf8.h"
#include "render/font_widths.h"

namespace cairn::render {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_space(char32_t c) {
  return c <= 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Invisible characters that change how others are drawn, and characters that XML does not allow.
bool is_dropped(char32_t c) {
  return c == 0x00AD || c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE ||
         (c >= 0xFDD0 && c <= 0xFDEF) || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_combining(char32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x0483 && c <= 0x0489) || (c >= 0x1AB0 && c <= 0x1AFF) ||
         (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE00 && c <= 0xFE2F);
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6) ||
         (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

int to_pixels(long units, int font_px) { return static_cast<int>((units * font_px + font_units - 1) / font_units); }

bool breaks_after(char32_t c) { return c == ' ' || c == '.' || c == '_' || c == '-' || c == '/'; }

// How many bytes of `text` fit into `width`, ending at a good break position if there is one.
std::size_t fitting_bytes(std::string_view text, int font_px, int width) {
  long units = 0;
  std::size_t good = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    units += glyph_advance(c.value);
    if (to_pixels(units, font_px) > width && c.value != ' ') return good > 0 ? good : at;
    at += c.size;
    if (breaks_after(c.value)) good = at;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::string with_ellipsis(std::string_view text, int font_px, int width) {
  const long room = static_cast<long>(width) - text_width(ellipsis, font_px);
  long units = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = code_point_at(text, at);
    units += glyph_advance(c.value);
    if (to_pixels(units, font_px) > room) break;
    at += c.size;
  }
  return std::string(trimmed(text.substr(0, at))) + std::string(ellipsis);
}

}  // namespace

int glyph_advance(char32_t c) {
  for (const WidthRange& range : width_ranges()) {
    if (c < range.first) break;
    if (c <= range.last) return is_combining(c) ? 0 : range.widths[c - range.first];
  }
  if (is_combining(c)) return 0;
  // The viewer's font draws emoji, usually a little wider than the em.
  if (c >= 0x1F000) return font_units * 5 / 4;
  return is_wide(c) ? font_units : unknown_width;
}

std::string plain_text(std::string_view text) {
  std::string out;
  bool space_due = false;
  // False if the text is full.
  const auto add = [&](std::string_view bytes) {
    const bool space = space_due && !out.empty();
    if (out.size() + (space ? 1 : 0) + bytes.size() > label_bytes_max) return false;
    if (space) out += ' ';
    space_due = false;
    out += bytes;
    return true;
  };
  std::size_t valid_until = find_invalid_utf8(text);
  for (std::size_t at = 0; at < text.size();) {
    if (at == valid_until) {
      if (!add(replacement)) break;
      ++at;
      const std::size_t next = find_invalid_utf8(text.substr(at));
      valid_until = next == std::string_view::npos ? next : at + next;
      continue;
    }
    const CodePoint c = code_point_at(text, at);
    if (is_space(c.value)) {
      space_due = true;
    } else if (!is_dropped(c.value) && !add(text.substr(at, c.size))) {
      break;
    }
    at += c.size;
  }
  return out;
}

int text_width(std::string_view plain, int font_px) {
  long units = 0;
  for (std::size_t at = 0; at < plain.size();) {
    const CodePoint c = code_point_at(plain, at);
    units += glyph_advance(c.value);
    at += c.size;
  }
  return to_pixels(units, font_px);
}

std::vector<std::string> wrap_text(std::string_view plain, int font_px, int width, std::size_t lines_max) {
  std::vector<std::string> lines;
  plain = trimmed(plain);
  while (!plain.empty() && lines.size() < lines_max) {
    const std::size_t bytes = fitting_bytes(plain, font_px, width);
    if (bytes < plain.size() && (lines.size() + 1 == lines_max || bytes == 0)) {
      lines.push_back(with_ellipsis(plain, font_px, width));
      break;
    }
    lines.emplace_back(trimmed(plain.substr(0, bytes)));
    plain = trimmed(plain.substr(bytes));
  }
  return lines;
}

}  // namespace cairn::render
