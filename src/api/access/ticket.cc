#include "api/access/ticket.h"

#include "base/base64url.h"

namespace cairn::api {
namespace {

constexpr std::string_view ticket_prefix = "ct1.";
constexpr std::size_t ticket_characters_max = 8u << 10;

Error no_ticket() { return {ErrorCode::not_allowed, "this link was not made by this server, or it was cut off"}; }

Json text_list(const std::vector<std::string>& list) {
  Json items = Json::array();
  for (const std::string& text : list) items.push_back(text);
  return items;
}

std::vector<std::string> list_of(const Json& items) {
  std::vector<std::string> list;
  if (!items.is_array()) return list;
  for (const Json& item : items.items()) {
    if (item.is_string()) list.emplace_back(item.as_string());
  }
  return list;
}

Timestamp instant_of(const Json& body, const char* name) {
  const Json& value = body[name];
  return Timestamp::of_unix_ms(value.is_integer() ? value.as_integer() : 0);
}

}  // namespace

bool is_ticket(std::string_view text) { return text.starts_with(ticket_prefix); }

Result<Tickets> Tickets::make(std::optional<Ed25519PrivateKey> key) {
  if (key) return Tickets(std::move(*key));
  CAIRN_TRY(Ed25519PrivateKey made, Ed25519PrivateKey::generate());
  return Tickets(std::move(made));
}

Result<std::shared_ptr<const Tickets>> Tickets::given_or_new(std::shared_ptr<const Tickets> given) {
  if (given) return given;
  CAIRN_TRY(Tickets made, make());
  return std::make_shared<const Tickets>(std::move(made));
}

std::string Tickets::issue(const Json& body) const {
  const std::string text = std::string(ticket_prefix) + base64url(write_json(body));
  return text + "." + base64url(key_.sign(text));
}

std::string Tickets::issue(const AnswerTicket& ticket) const {
  Json body = Json::object({{"kind", "answer"},
                            {"task", ticket.task},
                            {"state_version", static_cast<std::int64_t>(ticket.state_version)},
                            {"person", ticket.person},
                            {"issued", ticket.issued_at.unix_ms()},
                            {"expires", ticket.expires_at.unix_ms()}});
  if (!ticket.answer.is_null()) body.set("answer", ticket.answer);
  return issue(body);
}

std::string Tickets::issue(const EmbedTicket& ticket) const {
  Json body = Json::object({{"kind", "embed"},
                            {"person", ticket.person},
                            {"account", ticket.account},
                            {"roles", text_list(ticket.roles)},
                            {"paths", text_list(ticket.paths)},
                            {"expires", ticket.expires_at.unix_ms()}});
  if (ticket.task_roles) body.set("task_roles", text_list(*ticket.task_roles));
  return issue(body);
}

Result<Json> Tickets::read(std::string_view text, std::string_view kind) const {
  const std::size_t dot = text.rfind('.');
  if (!is_ticket(text) || text.size() > ticket_characters_max || dot < ticket_prefix.size()) return no_ticket();
  const std::string_view signed_text = text.substr(0, dot);
  const auto signature = from_base64url(text.substr(dot + 1));
  if (!signature || !key_.public_key().verify(signed_text, *signature)) return no_ticket();
  const auto bytes = from_base64url(signed_text.substr(ticket_prefix.size()));
  if (!bytes) return no_ticket();
  auto body = parse_json(*bytes);
  if (!body || body->text_or("kind", "") != kind) return no_ticket();
  return std::move(*body);
}

Result<AnswerTicket> Tickets::read_answer(std::string_view text) const {
  CAIRN_TRY(const Json body, read(text, "answer"));
  AnswerTicket ticket;
  ticket.task = std::string(body.text_or("task", ""));
  const Json& version = body["state_version"];
  ticket.state_version = version.is_integer() ? static_cast<std::uint64_t>(version.as_integer()) : 0;
  ticket.person = std::string(body.text_or("person", ""));
  ticket.answer = body["answer"];
  ticket.issued_at = instant_of(body, "issued");
  ticket.expires_at = instant_of(body, "expires");
  return ticket;
}

Result<EmbedTicket> Tickets::read_embed(std::string_view text, Timestamp now) const {
  CAIRN_TRY(const Json body, read(text, "embed"));
  EmbedTicket ticket;
  ticket.person = std::string(body.text_or("person", ""));
  ticket.account = std::string(body.text_or("account", ""));
  ticket.roles = list_of(body["roles"]);
  ticket.paths = list_of(body["paths"]);
  if (body.find("task_roles") != nullptr) ticket.task_roles = list_of(body["task_roles"]);
  ticket.expires_at = instant_of(body, "expires");
  if (ticket.expires_at <= now) return Error{ErrorCode::not_allowed, "the credential of this page has expired"};
  return ticket;
}

}  // namespace cairn::api
