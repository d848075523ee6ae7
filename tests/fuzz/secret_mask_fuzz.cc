// A secret on the first line, text around it after: however a response spells the secret, masking removes it, and an
// excerpt that is cut after masking holds no part of it. The spellings are written here a second time.
#include "base/utf8.h"
#include "expr/base64.h"
#include "expr/secret_mark.h"
#include "input.h"
#include "transport/http_transport.h"
#include "transport/secrets.h"

namespace {

std::string escaped(std::string_view text, const char* before, bool all) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain && !all) {
      out += c;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += before;
      out += {digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::string secret(fuzzing::take_line(input));
  const std::string before(fuzzing::take_line(input));
  const std::string after(input);
  // A star could be part of a mask; `-._~` need no encoding but may have one.
  if (secret.size() < 6 || secret.find_first_of("*-._~ ") != std::string::npos || !is_utf8(secret)) return;
  const Secrets secrets({{"key", {secret, {}}}});
  Unsealing unsealing(secrets, true);
  CAIRN_ASSERT(unsealing.text(expr::secret_marker("key")).has_value());
  std::string json;
  write_json_string(secret, json);
  for (const std::string& spelling :
       {secret, json.substr(1, json.size() - 2), escaped(secret, "", true), escaped(secret, "%", false)}) {
    const std::string masked = unsealing.mask(before + spelling + after);
    CAIRN_ASSERT(masked.find(secret) == std::string::npos && masked.find("***") != std::string::npos);
    if (before.empty() && after.empty()) CAIRN_ASSERT(masked == "***");
    CAIRN_ASSERT(excerpt(masked, 5).find(spelling) == std::string::npos);
  }
  // Inside a longer text in base64: no six characters that depend on the secret alone remain.
  const std::string encoded = expr::base64_encode(before + secret + after);
  const std::string masked = unsealing.mask(encoded);
  const std::size_t begin = (before.size() * 8 + 5) / 6;
  const std::size_t end = (before.size() + secret.size()) * 8 / 6;
  CAIRN_ASSERT(masked.find(encoded.substr(begin, end - begin)) == std::string::npos);
}
