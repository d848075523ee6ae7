// Tickets: short texts that this server signs and accepts later, without a row in the store. Two kinds exist: a link
// with which one person answers one task without an account, and a short-lived credential for pages that embed parts of
// the console.
//
//   ct1.BODY.SIGNATURE    BODY: JSON in base64url; SIGNATURE: Ed25519 over `ct1.BODY`, in base64url
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ed25519.h"
#include "base/json.h"
#include "base/time.h"

namespace cairn::api {

struct AnswerTicket {
  std::string task;
  std::uint64_t state_version = 0;  // of the task: a task that has changed since needs a new link
  std::string person;
  Json answer;  // chosen in the link; null: none
  Timestamp issued_at;
  Timestamp expires_at;
};

struct EmbedTicket {
  std::string person;
  std::string account;                                 // of the caller that asked for the ticket
  std::vector<std::string> roles;                      // of this server
  std::optional<std::vector<std::string>> task_roles;  // absent: not checked
  std::vector<std::string> paths;                      // below which it may be used
  Timestamp expires_at;
};

// Safe to call from several threads.
class Tickets {
 public:
  // Without a key it makes one, so its tickets end with the process.
  static Result<Tickets> make(std::optional<Ed25519PrivateKey> key = {});
  // The given one, or one with a new key.
  static Result<std::shared_ptr<const Tickets>> given_or_new(std::shared_ptr<const Tickets> given);

  std::string issue(const AnswerTicket& ticket) const;
  std::string issue(const EmbedTicket& ticket) const;

  // ErrorCode::not_allowed if it is not a ticket of this server and this kind. An expired one is read, because the
  // person wants to know what happened to it.
  Result<AnswerTicket> read_answer(std::string_view text) const;
  // ErrorCode::not_allowed also if it has expired.
  Result<EmbedTicket> read_embed(std::string_view text, Timestamp now) const;

 private:
  explicit Tickets(Ed25519PrivateKey key) : key_(std::move(key)) {}
  std::string issue(const Json& body) const;
  Result<Json> read(std::string_view text, std::string_view kind) const;

  Ed25519PrivateKey key_;
};

bool is_ticket(std::string_view text);

}  // namespace cairn::api
