// Any bytes: base64 and base64url decode to what was encoded. Text that is not base64 is refused, and what is accepted
// has one spelling only.
#include "expr/base64.h"

#include <algorithm>

#include "api/access/jwt.h"
#include "input.h"

void fuzz(std::string_view input) {
  const std::string encoded = cairn::expr::base64_encode(input);
  CAIRN_ASSERT(encoded.size() == (input.size() + 2) / 3 * 4);
  CAIRN_ASSERT(cairn::expr::base64_decode(encoded) == input);
  std::string url = encoded.substr(0, encoded.find('='));
  CAIRN_ASSERT(cairn::expr::base64_decode(url) == input);
  std::replace(url.begin(), url.end(), '+', '-');
  std::replace(url.begin(), url.end(), '/', '_');
  CAIRN_ASSERT(cairn::api::base64url_decode(url) == input);

  if (const auto bytes = cairn::api::base64url_decode(input)) {
    std::string again = cairn::expr::base64_encode(*bytes);
    again.resize(std::min(again.find('='), again.size()));
    std::replace(again.begin(), again.end(), '+', '-');
    std::replace(again.begin(), again.end(), '/', '_');
    CAIRN_ASSERT(again == input);
  }
  if (const auto bytes = cairn::expr::base64_decode(input)) {
    CAIRN_ASSERT(cairn::expr::base64_decode(cairn::expr::base64_encode(*bytes)) == bytes);
  }
}
