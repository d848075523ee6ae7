#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

std::string joined(const Json& list) {
  std::string text;
  if (!list.is_array()) return text;
  for (const Json& item : list.items()) {
    if (item.is_string()) text += (text.empty() ? "" : ",") + std::string(item.as_string());
  }
  return text;
}

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push_back(text);
  return json;
}

int create(ApiSession& session, const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (!arguments.has("--subject") || !arguments.has("--role"))
    return wrong_call("keys", "create needs --subject USER and --role ROLE", err);
  Json body = Json::object({{"subject", arguments.value("--subject").value_or("")},
                            {"roles", texts(arguments.values("--role"))},
                            {"note", arguments.value("--note").value_or("")}});
  Json scope = Json::object();
  if (arguments.has("--prefix")) scope.set("prefixes", texts(arguments.values("--prefix")));
  if (arguments.has("--task-role")) scope.set("task_roles", texts(arguments.values("--task-role")));
  if (scope.size() > 0) body.set("scope", scope);
  if (const auto lifetime = arguments.value("--expires-in")) body.set("expires_in", *lifetime);
  auto answer = session.ask({"POST", "/v1/keys", {}, body}, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& key = std::get<ApiAnswer>(answer).body;
  if (arguments.has("--json")) {
    out << write_json(key) << "\n";
  } else {
    err << "key " << key.text_or("id", "") << " for " << key.text_or("subject", "")
        << "; it is shown this once and kept nowhere:\n";
    out << key.text_or("key", "") << "\n";
  }
  return exit_done;
}

Listing all_keys() {
  Listing listing;
  listing.request = {"GET", "/v1/keys"};
  listing.paged = false;
  listing.columns = {"ID", "SUBJECT", "ROLES", "EXPIRES", "NOTE"};
  listing.row = [](const Json& key) -> std::vector<std::string> {
    const std::string_view end = key.find("revoked_at") ? "revoked" : key.text_or("expires_at", "never expires");
    return {cell(key, "id"), cell(key, "subject"), joined(key["roles"]), std::string(end), cell(key, "note")};
  };
  return listing;
}

}  // namespace

const CommandSpec& keys_spec() {
  static const CommandSpec spec{
      "keys",
      "create --subject USER --role ROLE… | list | revoke ID",
      "Create, list and revoke API keys",
      "Roles: viewer, task_worker, starter, worker, operator, deployer, admin. A worker's key needs --prefix: the run\n"
      "types that it may lease. A task worker's key needs --task-role: the person's roles in human tasks. The key is\n"
      "shown only once. Use --store to create the first key of a server.",
      with_list_flags({{"--subject", "USER", "the person or program that uses the key"},
                       {"--role", "ROLE", "what the key may do (repeatable)"},
                       {"--prefix", "PREFIX", "run types that a worker may lease (repeatable)"},
                       {"--task-role", "ROLE", "a role in human tasks (repeatable)"},
                       {"--expires-in", "DURATION", "lifetime, such as 90d (default: no expiry)"},
                       {"--note", "TEXT", "the purpose of the key"}}),
      {"cairn keys create --store sqlite:cairn.db --subject ada --role admin",
       "cairn keys create --subject billing --role worker --prefix billing. --expires-in 90d", "cairn keys list",
       "cairn keys revoke 4f2a90c1d2e3"}};
  return spec;
}

int run_keys(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(keys_spec(), args, arguments, out, err)) return *over;
  const std::vector<std::string>& words = arguments.positional();
  const std::string verb = words.empty() ? "" : words[0];
  const bool form = (verb == "create" && words.size() == 1) || (verb == "list" && words.size() == 1) ||
                    (verb == "revoke" && words.size() == 2);
  if (!form) return wrong_call("keys", "use create, list or revoke ID", err);
  auto opened =
      ApiSession::open("keys", arguments, verb == "list" ? ApiSession::Use::read : ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& session = *std::get<0>(opened);
  if (verb == "create") return create(session, arguments, out, err);
  if (verb == "list") return print_listing(session, all_keys(), arguments, out, err);
  auto answer = session.ask({"DELETE", "/v1/keys/" + path_part(words[1])}, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  err << "revoked; servers refuse the key within seconds\n";
  return exit_done;
}

}  // namespace cairn::cli
