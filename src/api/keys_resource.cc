#include "api/access/api_key.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/problem.h"
#include "store/projection.h"

namespace cairn::api {
namespace {

void create_key(EngineCore& core, const Call& call) {
  std::vector<std::string> roles;
  for (const Json& role : call.body["roles"].items()) roles.emplace_back(role.as_string());
  std::optional<Timestamp> expires;
  const auto lifetime = duration_of(call.body, "expires_in");
  if (!lifetime) return call.reply(problem(lifetime.error()));
  if (*lifetime) expires = after(core.store().now(), **lifetime);  // a store reads no later time back
  auto key = new_api_key(std::string(call.body["subject"].as_string()), std::move(roles),
                         call.body.find("scope") ? call.body["scope"] : Json(),
                         std::string(call.body.text_or("note", "")), expires);
  if (!key) {
    call.reply(problem(key.error()));
    return;
  }
  key->row.created_at = core.store().now();
  if (const auto stored = core.store().put_api_key(key->row); !stored) {
    call.reply(problem(stored.error()));
    return;
  }
  Json answer = document(key->row);
  answer.set("key", key->secret);
  call.reply(json_response(answer, 201));
}

void list_keys(EngineCore& core, const Call& call) {
  const auto rows = core.store().list_api_keys();
  if (!rows) {
    call.reply(problem(rows.error()));
    return;
  }
  Json items = Json::array();
  for (const ApiKeyRow& row : *rows) {
    if (!is_session(row)) items.push_back(document(row));
  }
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

void revoke(EngineCore& core, const Call& call) {
  const auto done = core.store().revoke_api_key(std::string(call.at("id")));
  if (!done) {
    call.reply(problem(done.error()));
  } else if (!*done) {
    call.reply(problem({ErrorCode::not_found, "no key " + std::string(call.at("id"))}));
  } else {
    call.reply({204, "application/json", {}, ""});
  }
}

constexpr std::string_view create_key_schema =
    R"({"type":"object","required":["subject","roles"],"additionalProperties":false,"properties":{
  "subject":{"type":"string","minLength":1,"maxLength":200,"description":"the person or program that uses the key"},
  "roles":{"type":"array","minItems":1,"items":{"enum":["viewer","task_worker","starter","worker","operator","deployer","admin"]}},
  "scope":{"type":"object","additionalProperties":false,"properties":{
    "prefixes":{"type":"array","items":{"type":"string","minLength":1}},
    "task_roles":{"type":"array","items":{"type":"string","minLength":1}}}},
  "note":{"type":"string","maxLength":1000},"expires_in":{"type":"string"},"reason":{"type":"string"}}})";

}  // namespace

std::vector<Route> key_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      // The secret must not be stored anywhere, not even for a repeat.
      {"POST",
       "/v1/keys",
       Permission::administer,
       "createKey",
       "Create an API key; only this answer contains its secret",
       [with](const Call& call) { create_key(*with, call); },
       {},
       create_key_schema,
       "application/json",
       true},
      {"GET", "/v1/keys", Permission::administer, "listKeys", "List API keys, without their secrets",
       [with](const Call& call) { list_keys(*with, call); }},
      {"DELETE", "/v1/keys/{id}", Permission::administer, "revokeKey", "Revoke an API key",
       [with](const Call& call) { revoke(*with, call); }},
  };
}

}  // namespace cairn::api
