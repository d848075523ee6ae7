// API keys: `cairn_ID_SECRET`. The full text is shown once, when the key is created; the store holds its hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/access/identity.h"
#include "base/result.h"
#include "store/access_rows.h"

namespace cairn::api {

struct NewApiKey {
  ApiKeyRow row;       // for the store
  std::string secret;  // for the user
};
// ErrorCode::invalid for an unknown role.
Result<NewApiKey> new_api_key(std::string subject, std::vector<std::string> roles, Json scope, std::string note,
                              std::optional<Timestamp> expires_at);

std::string api_key_hash(std::string_view secret);
// Whether the text has the form of an API key.
bool is_api_key(std::string_view text);
// 256 random bits, hexadecimal.
Result<std::string> new_secret();

// Whether the row is a session of the console (access/session.h) and not a key.
bool is_session(const ApiKeyRow& row);

// Empty if the key is revoked or has expired, or if the row is a session.
std::optional<Identity> identity_of(const ApiKeyRow& row, Timestamp now);

// What the person may do with the last token that the account used.
Identity identity_of(const TokenUserRow& row);

// Without the hash.
Json document(const ApiKeyRow& row);

}  // namespace cairn::api
