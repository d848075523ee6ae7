// Incoming webhooks. Each hook has an unguessable address and a secret. A request is accepted once if it is signed with
// the secret (outbox/signature.h), and becomes a signal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/http_types.h"
#include "expr/expression.h"
#include "outbox/cloud_event.h"

namespace cairn::api {

// Literal text, or an expression over `body` and `headers`: `= body.order.id`.
struct HookValue {
  Json literal;
  std::optional<expr::Expression> expression = {};
};

struct InboundHook {
  std::string name;        // for the log and the audit trail
  std::string id;          // the last segment of its path
  std::string secret;      // never empty
  std::string old_secret;  // also accepted during rotation; empty: none
  // Accepts CloudEvents whose type begins with one of these; empty: all. Unused if the hook has a signal.
  std::vector<std::string> types;
  struct Signal {
    HookValue name;
    HookValue key;
    std::optional<HookValue> payload;  // empty: the body
    std::optional<HookValue> id;       // identifies repeats; empty: every request is a new signal
  };
  std::optional<Signal> signal;
  // Headers that the sender signs in addition to the standard ones (outbox/signature.h), in lower case. Expressions see
  // only signed headers.
  std::vector<std::string> signed_headers;
  std::optional<Duration> ttl =
      {};  // how long the signal is kept without a matching wait; absent: as a definition says
};

// Reads a list of {name, id, secret | secret_file, old_secret | old_secret_file, types | signal, key, payload,
// event_id, signed_headers, ttl}; null: none. ErrorCode::invalid names the hook and its mistake: a guessable id, or a
// secret that is missing or shorter than 32 bytes. Reads the named files.
Result<std::vector<InboundHook>> read_hooks(const Json& settings);

// The hook with this id, compared in constant time; null if unknown.
const InboundHook* find_hook(const std::vector<InboundHook>& hooks, std::string_view id);

// ErrorCode::not_allowed unless the request has exactly one valid signature and one current timestamp, and each signed
// header at most once.
Result<void> check_signed(const InboundHook& hook, const Request& request, Timestamp now);

// The signals of a request, in their order. ErrorCode::invalid if it cannot be read.
struct HookSignal {
  std::string id;  // empty if the request has none
  std::string name;
  Json key;
  Json payload;
};
Result<std::vector<HookSignal>> signals_of(const InboundHook& hook, const Request& request,
                                           std::size_t events_max = Limits().event_batch_max);

}  // namespace cairn::api
