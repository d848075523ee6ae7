// Secrets are put in at the moment of sending. Until then a sealed request holds marks for them
// (expr/secret_mark.h), so that what is stored, logged and shown never has a value in it.
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
  std::vector<std::string> hosts;  // where it may be sent; none: wherever the policy lets calls go
};

class Secrets {
 public:
  Secrets() = default;
  explicit Secrets(std::map<std::string, Secret> secrets) : secrets_(std::move(secrets)) {}
  // CAIRN_SECRET_NAME, and CAIRN_SECRET_NAME_HOSTS with names between commas. A secret `api-key` is
  // CAIRN_SECRET_API_KEY.
  static Secrets from_environment();

  // Without hosts of its own it has those of CAIRN_SECRET_NAME_HOSTS.
  void put(const std::string& name, Secret secret);
  const Secret* find(std::string_view name) const;
  // No line of the log shows a value from now on.
  void mask_in_logs() const;

 private:
  std::map<std::string, Secret> secrets_;
};

// One request while it is being sent: puts secrets in, and takes them out of whatever comes back.
class Unsealing {
 public:
  // Without `allowed` no secret is given out: the request did not come from a definition.
  Unsealing(const Secrets& secrets, bool allowed) : secrets_(secrets), allowed_(allowed) {}

  // ErrorCode::invalid: a mark that nothing stands for; not_allowed: a secret that may not be given out.
  Result<std::string> text(std::string_view sealed);
  Result<Json> value(const Json& sealed);
  // Whether everything put in so far may go to this host.
  Result<void> check_host(std::string_view host) const;

  // Every occurrence of a value that was put in becomes ***, in whatever common way it is spelled (spellings.h). Mask
  // before cutting: a secret that is cut in half is not found any more.
  std::string mask(std::string text) const;
  Json mask(const Json& value) const;

 private:
  const Secrets& secrets_;
  bool allowed_;
  std::map<std::string, const Secret*> used_;
  std::vector<std::string> spellings_;  // of all of them, the longest first: one secret may be a part of another
};

}  // namespace cairn
