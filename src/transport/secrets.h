// Secrets are inserted at the moment of sending. Until then a sealed request holds marks for them (expr/secret_mark.h),
// so stored, logged and displayed requests never contain a value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

struct Secret {
  std::string value;
  std::vector<std::string> hosts;  // hosts that may receive it; empty allows every host that the policy allows
};

class Secrets {
 public:
  Secrets() = default;
  explicit Secrets(std::map<std::string, Secret> secrets) : secrets_(std::move(secrets)) {}
  // Reads CAIRN_SECRET_NAME, and CAIRN_SECRET_NAME_HOSTS with comma-separated host names. A secret `api-key` is read
  // from CAIRN_SECRET_API_KEY.
  static Secrets from_environment();

  // A secret without hosts takes those of CAIRN_SECRET_NAME_HOSTS.
  void put(const std::string& name, Secret secret);
  const Secret* find(std::string_view name) const;
  // From now on the log masks every value.
  void mask_in_logs() const;

 private:
  std::map<std::string, Secret> secrets_;
};

// Handles the secrets of one request: inserts them before sending, and masks them in the response.
class Unsealing {
 public:
  // Without `allowed` no secret is inserted: the request did not come from a definition.
  Unsealing(const Secrets& secrets, bool allowed) : secrets_(secrets), allowed_(allowed) {}

  // ErrorCode::invalid for a mark of an unknown secret; not_allowed for a secret that must not be inserted.
  Result<std::string> text(std::string_view sealed);
  Result<Json> value(const Json& sealed);
  // Checks that every secret inserted so far may be sent to this host.
  Result<void> check_host(std::string_view host) const;

  // Replaces every occurrence of an inserted value with ***, in all common encodings (secret_encodings.h). Mask before
  // cutting: a secret that is cut in half is not found.
  std::string mask(std::string text) const;
  Json mask(const Json& value) const;

 private:
  const Secrets& secrets_;
  bool allowed_;
  std::map<std::string, const Secret*> used_;
  std::vector<std::string> spellings_;  // longest first, because one secret may be part of another
};

}  // namespace cairn
