#include "api/access/inbound_hook.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/ascii.h"
#include "base/log.h"
#include "outbox/signature.h"

namespace cairn::api {
namespace {

// 128 bits in base64; in hexadecimal they take 32 digits.
constexpr std::size_t id_characters_min = 22;
constexpr std::size_t id_characters_max = 200;
constexpr std::size_t name_bytes_max = 100;

const std::set<std::string_view> members{
    "name",   "id",  "secret",  "secret_file", "old_secret", "old_secret_file", "types",
    "signal", "key", "payload", "event_id",    "ttl",        "signed_headers"};

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::invalid, "hooks." + where + ": " + what};
}

Result<std::string> secret_of(const Json& given, const std::string& member, const std::string& where) {
  const Json& text = given[member];
  const Json& path = given[member + "_file"];
  if (!text.is_null() && !path.is_null()) return wrong(where, "has both " + member + " and " + member + "_file");
  std::string secret;
  if (path.is_string()) {
    std::ifstream file(std::string(path.as_string()), std::ios::binary);
    if (!file) return wrong(where + "." + member + "_file", std::string(path.as_string()) + " cannot be read");
    std::ostringstream content;
    content << file.rdbuf();
    secret = content.str();
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  } else if (text.is_string()) {
    secret = std::string(text.as_string());
  } else if (!text.is_null() || !path.is_null()) {
    return wrong(where + "." + member, "must be a string");
  }
  const bool given_one = !text.is_null() || !path.is_null();
  if (given_one && secret.size() < signing_secret_bytes_min) {
    return wrong(where + "." + member, "must have at least 32 bytes, for example from `openssl rand -hex 32`");
  }
  mask_in_logs(secret);
  return secret;
}

Result<HookValue> value_of(const Json& given, const std::string& where) {
  if (!given.is_string()) return wrong(where, "must be a string or an expression such as \"= body.order.id\"");
  const std::string_view text = given.as_string();
  if (!text.starts_with('=')) return HookValue{given};
  expr::Environment environment;
  environment.variables.push_back({"body"});
  environment.variables.push_back({"headers"});
  auto compiled = expr::compile(std::string(text.substr(1)), environment);
  if (!compiled) return wrong(where, compiled.error().front().message);
  return HookValue{Json(), std::move(*compiled)};
}

Result<std::vector<std::string>> texts_of(const Json& given, const std::string& where) {
  std::vector<std::string> texts;
  if (given.is_null()) return texts;
  if (!given.is_array()) return wrong(where, "must be a list of strings");
  for (const Json& text : given.items()) {
    if (!text.is_string() || text.as_string().empty()) return wrong(where, "must be a list of strings");
    texts.emplace_back(text.as_string());
  }
  return texts;
}

Result<std::optional<InboundHook::Signal>> signal_of(const Json& given, const std::string& where) {
  if (given["signal"].is_null()) {
    for (const char* const member : {"key", "payload", "event_id"}) {
      if (given.find(member) != nullptr) return wrong(where + "." + member, "is only valid with `signal`");
    }
    return std::optional<InboundHook::Signal>();
  }
  if (given.find("types") != nullptr)
    return wrong(where, "must have either `types` of CloudEvents or a `signal`, not both");
  InboundHook::Signal signal;
  CAIRN_TRY(signal.name, value_of(given["signal"], where + ".signal"));
  if (given.find("key") != nullptr) {
    CAIRN_TRY(signal.key, value_of(given["key"], where + ".key"));
  }
  if (given.find("payload") != nullptr) {
    CAIRN_TRY(signal.payload, value_of(given["payload"], where + ".payload"));
  }
  if (given.find("event_id") != nullptr) {
    CAIRN_TRY(signal.id, value_of(given["event_id"], where + ".event_id"));
  }
  return std::optional(std::move(signal));
}

Result<InboundHook> hook_of(const Json& given, const std::string& where) {
  if (!given.is_object()) return wrong(where, "must be an object with name, id and secret");
  for (const Json::Member& member : given.members()) {
    if (!members.contains(member.key)) return wrong(where, "unknown member `" + std::string(member.key) + "`");
  }
  InboundHook hook;
  hook.id = std::string(given.text_or("id", ""));
  const bool plain = std::all_of(hook.id.begin(), hook.id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!plain || hook.id.size() < id_characters_min || hook.id.size() > id_characters_max) {
    return wrong(where + ".id",
                 "must be unguessable: 22 to 200 letters, digits, - and _, for example from "
                 "`openssl rand -hex 16`");
  }
  hook.name = std::string(given.text_or("name", ""));
  if (hook.name.empty() || hook.name.size() > name_bytes_max) return wrong(where + ".name", "must have 1 to 100 bytes");
  CAIRN_TRY(hook.secret, secret_of(given, "secret", where));
  if (hook.secret.empty()) return wrong(where, "needs a secret to verify requests");
  CAIRN_TRY(hook.old_secret, secret_of(given, "old_secret", where));
  CAIRN_TRY(hook.types, texts_of(given["types"], where + ".types"));
  CAIRN_TRY(hook.signed_headers, texts_of(given["signed_headers"], where + ".signed_headers"));
  for (std::string& name : hook.signed_headers) name = ascii_lower(name);
  CAIRN_TRY(hook.signal, signal_of(given, where));
  if (const Json& ttl = given["ttl"]; !ttl.is_null()) {
    const auto length = ttl.is_string() ? parse_duration(ttl.as_string()) : Result<Duration>(Error{});
    if (!length) return wrong(where + ".ttl", "must be a duration such as 1d");
    hook.ttl = *length;
  }
  return hook;
}

// The value of this header; empty if it is missing or repeated.
std::optional<std::string_view> only_header(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : request.headers) {
    if (key != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

Result<Json> evaluate(const HookValue& value, std::span<const expr::Value> bound, const char* what) {
  if (!value.expression) return value.literal;
  auto evaluated = value.expression->evaluate_json(bound);
  if (!evaluated) {
    return Error{ErrorCode::invalid, std::string("the hook's ") + what + ": " + evaluated.error().message};
  }
  return std::move(*evaluated);
}

bool covers(const InboundHook& hook, const std::string& name) {
  return is_signed_header(name) ||
         std::find(hook.signed_headers.begin(), hook.signed_headers.end(), name) != hook.signed_headers.end();
}

Result<HookSignal> read_signal(const InboundHook& hook, const InboundHook::Signal& signal, const Request& request) {
  Json body;
  if (!request.body.empty()) {
    CAIRN_TRY(body, parse_json(request.body));
  }
  Json headers = Json::object();
  for (const auto& [name, value] : request.headers) {
    if (covers(hook, name)) headers.set(name, value);
  }
  const expr::Value bound[] = {expr::from_json(body), expr::from_json(headers)};
  HookSignal read;
  CAIRN_TRY(const Json name, evaluate(signal.name, bound, "signal"));
  if (!name.is_string()) return Error{ErrorCode::invalid, "the hook's signal is not a string"};
  read.name = std::string(name.as_string());
  CAIRN_TRY(read.key, evaluate(signal.key, bound, "key"));
  // Keys are texts; an order number is a common key.
  if (read.key.is_number()) read.key = Json(write_json(read.key));
  read.payload = body;
  if (signal.payload) {
    CAIRN_TRY(read.payload, evaluate(*signal.payload, bound, "payload"));
  }
  if (!signal.id) return read;
  CAIRN_TRY(const Json id, evaluate(*signal.id, bound, "event_id"));
  read.id = id.is_string() ? std::string(id.as_string()) : write_json(id);
  return read;
}

}  // namespace

Result<std::vector<InboundHook>> read_hooks(const Json& settings) {
  std::vector<InboundHook> hooks;
  if (settings.is_null()) return hooks;
  if (!settings.is_array()) return Error{ErrorCode::invalid, "hooks: must be a list"};
  for (const Json& given : settings.items()) {
    const std::string where = std::string(given.is_object() ? given.text_or("name", std::to_string(hooks.size()))
                                                            : std::to_string(hooks.size()));
    CAIRN_TRY(InboundHook hook, hook_of(given, where));
    const auto same = [&](const InboundHook& other) { return other.name == hook.name || other.id == hook.id; };
    if (std::any_of(hooks.begin(), hooks.end(), same)) return wrong(where, "name and id must be unique");
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

const InboundHook* find_hook(const std::vector<InboundHook>& hooks, std::string_view id) {
  const InboundHook* found = nullptr;
  for (const InboundHook& hook : hooks) {
    if (hook.id.size() == id.size() && CRYPTO_memcmp(hook.id.data(), id.data(), id.size()) == 0) found = &hook;
  }
  return found;
}

Result<void> check_signed(const InboundHook& hook, const Request& request, Timestamp now) {
  const auto signature = only_header(request, signature_header);
  const auto timestamp = only_header(request, timestamp_header);
  if (!signature || !timestamp) {
    return Error{ErrorCode::not_allowed, "the request must have exactly one cairn-signature and one cairn-timestamp"};
  }
  SignedRequest covered{hook.id, {}, request.body};
  for (const auto& header : request.headers) {
    if (!covers(hook, header.first)) continue;
    if (!only_header(request, header.first)) {
      return Error{ErrorCode::not_allowed, "the request has " + header.first + " twice"};
    }
    covered.headers.push_back(header);
  }
  return check_signature(hook.secret, hook.old_secret, *timestamp, *signature, covered, now);
}

Result<std::vector<HookSignal>> signals_of(const InboundHook& hook, const Request& request, std::size_t events_max) {
  std::vector<HookSignal> signals;
  if (hook.signal) {
    CAIRN_TRY(HookSignal read, read_signal(hook, *hook.signal, request));
    signals.push_back(std::move(read));
    return signals;
  }
  CAIRN_TRY(const auto events, read_cloud_events(request.headers, request.body, events_max));
  for (const InboundEvent& event : events) {
    const auto begins = [&](const std::string& type) { return event.type.starts_with(type); };
    if (!hook.types.empty() && std::none_of(hook.types.begin(), hook.types.end(), begins)) {
      return Error{ErrorCode::invalid, "this hook does not accept events of type " + event.type};
    }
    signals.push_back({event.unique_id(), event.type, event.subject, event.data});
  }
  return signals;
}

}  // namespace cairn::api
