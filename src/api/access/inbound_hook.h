// Webhooks that come in. Each has an address that nobody can guess and a secret: a request is taken when it is signed
// with it (outbox/signature.h), once. What it says becomes a signal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/expression.h"
#include "outbox/cloud_event.h"
#include "http/server.h"

namespace cairn::server {

// A text as it stands, or an expression over `body` and `headers`: `= body.order.id`.
struct HookValue {
  Json literal;
  std::optional<expr::Expression> expression = {};
};

struct InboundHook {
  std::string name;        // for people: the log, the audit trail
  std::string id;          // the last part of its address
  std::string secret;      // never empty
  std::string old_secret;  // accepted too while it is being replaced; empty: none
  // CloudEvents whose types begin with one of these; empty: all. Unless it has a signal.
  std::vector<std::string> types;
  struct Signal {
    HookValue name;
    HookValue key;
    std::optional<HookValue> payload;  // absent: the body
    std::optional<HookValue> id;       // tells a repeat; absent: every request is another signal
  };
  std::optional<Signal> signal;
  // Headers that the sender signs besides those that everybody does (outbox/signature.h); expressions see signed ones
  // only. In lower case.
  std::vector<std::string> signed_headers;
  Duration ttl = Duration::of_seconds(86'400);  // how long it is kept when nobody waits for it
};

// A list of {name, id, secret | secret_file, old_secret | old_secret_file, types | signal, key, payload, event_id,
// signed_headers, ttl}; null: none. ErrorCode::invalid says what is wrong with which one: an id that could be guessed,
// a secret that is missing or shorter than 32 bytes. Reads the files that are named.
Result<std::vector<InboundHook>> read_hooks(const Json& settings);

// The one with this id, compared in a time that tells nothing; null: there is none.
const InboundHook* find_hook(const std::vector<InboundHook>& hooks, std::string_view id);

// ErrorCode::not_allowed unless the request has exactly one signature and one timestamp, each signed header at most
// once, and they are good now.
Result<void> check_signed(const InboundHook& hook, const Request& request, Timestamp now);

// What the request says, in the order in which it says it. ErrorCode::invalid when it cannot be read.
struct HookSignal {
  std::string id;  // empty: none was given
  std::string name;
  Json key;
  Json payload;
};
Result<std::vector<HookSignal>> signals_of(const InboundHook& hook, const Request& request);

}  // namespace cairn::server
