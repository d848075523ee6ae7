#include "expr/secret_mark.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::expr {
namespace {

const std::vector<std::string> token{"token"};
const std::string literal = std::string(mark_begin) + std::string(mark_literal);

TEST(SecretMark, OfANamedSecretStays) {
  const Json bearer("Bearer " + secret_marker("token"));
  EXPECT_EQ(seal(bearer, token), bearer);
}

TEST(SecretMark, ThatCameWithTheDataIsTakenApart) {
  EXPECT_EQ(seal(Json(secret_marker("token")), {}), Json(literal + "secret:token" + std::string(mark_end)));
  EXPECT_EQ(seal(Json(secret_marker("other")), token), Json(literal + "secret:other" + std::string(mark_end)));
}

TEST(SecretMark, OfALongerNameIsAnother) {
  EXPECT_EQ(seal(Json(secret_marker("token2")), token), Json(literal + "secret:token2" + std::string(mark_end)));
}

TEST(SecretMark, IsTakenApartInKeysAndAtAnyDepth) {
  const std::string forged = secret_marker("token");
  const Json value = Json::object({{forged, Json::array({Json::object({{"x", forged}})})}});
  EXPECT_EQ(write_json(seal(value, {})).find(forged), std::string::npos);
}

TEST(SecretMark, TwiceSealedCannotBecomeOneAgain) {
  // Data with the escaped form must not be unescaped into a mark.
  const Json sealed = seal(Json(literal + "secret:token" + std::string(mark_end)), {});
  EXPECT_EQ(sealed, Json(literal + std::string(mark_literal) + "secret:token" + std::string(mark_end)));
}

TEST(SecretMark, AHalfMarkIsData) { EXPECT_EQ(seal(Json(std::string(mark_begin)), token), Json(literal)); }

}  // namespace
}  // namespace cairn::expr
