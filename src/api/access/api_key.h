// API keys: `cairn_ID_SECRET`. The whole text is shown once, when the key is made; the store has its hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "api/access/identity.h"
#include "store/access_rows.h"

namespace cairn::server {

struct NewApiKey {
  ApiKeyRow row;       // to be stored
  std::string secret;  // to be shown
};
// ErrorCode::invalid for a role that there is not.
Result<NewApiKey> new_api_key(std::string subject, std::vector<std::string> roles, Json scope, std::string note,
                              std::optional<Timestamp> expires_at);

std::string api_key_hash(std::string_view secret);
// Whether it looks like one at all.
bool is_api_key(std::string_view text);

// Nothing when the key is revoked or has expired.
std::optional<Identity> identity_of(const ApiKeyRow& row, Timestamp now);

// Without its hash.
Json document(const ApiKeyRow& row);

}  // namespace cairn::server
