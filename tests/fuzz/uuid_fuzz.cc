// Any text as a UUID and as hexadecimal: accepted exactly if it has the form, and the bytes give the text back.
#include "base/ascii.h"
#include "base/ed25519.h"
#include "base/id.h"
#include "base/sha256.h"
#include "input.h"

namespace {

bool has_form(std::string_view text) {
  constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = std::string_view("0123456789abcdefABCDEF").find(text[i]) != std::string_view::npos;
    if (form[i] == 'x' ? !digit : text[i] != '-') return false;
  }
  return true;
}

}  // namespace

void fuzz(std::string_view text) {
  CAIRN_ASSERT(cairn::is_uuid(text) == has_form(text));
  CAIRN_ASSERT(cairn::is_plain_uuid(text) == (has_form(text) && cairn::ascii_lower(text) == text));
  if (cairn::is_uuid(text)) {
    const cairn::UuidBytes bytes = cairn::uuid_bytes(text);
    std::string hex = cairn::to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    for (const std::size_t at : {8, 13, 18, 23}) hex.insert(at, "-");
    CAIRN_ASSERT(hex == cairn::ascii_lower(text));
  }
  CAIRN_ASSERT(cairn::from_hex(cairn::to_hex(text)) == text);
  if (const auto bytes = cairn::from_hex(text)) CAIRN_ASSERT(cairn::to_hex(*bytes) == cairn::ascii_lower(text));
}
