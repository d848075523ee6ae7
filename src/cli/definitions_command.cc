#include "cli/commands.h"

#include "base/limits.h"
#include "cli/api_session.h"
#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

Listing all_definitions() {
  Listing listing;
  listing.request = {"GET", "/v1/definitions"};
  listing.most = 100'000;
  listing.columns = {"NAME", "VERSION", "TITLE", "DEPLOYED", "DIGEST", "RETIRED"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "name"),
            cell(item, "version"),
            cell(item, "title"),
            cell(item, "deployed_at"),
            cell(item, "digest").substr(0, 12),
            item["retired_at"].is_string() ? "retired" : ""};
  };
  return listing;
}

int deploy(ApiSession& api, const Arguments& arguments, std::istream& in, std::ostream& out, std::ostream& err) {
  int code = exit_done;
  for (std::size_t i = 1; i < arguments.positional().size(); ++i) {
    const auto files = definition_files(arguments.positional()[i]);
    if (!files) return fail("definitions", files.error(), err);
    for (const std::string& file : *files) {
      auto text = read_input(file, in, Limits().definition_bytes_max);
      if (!text) return fail("definitions", text.error(), err);
      ApiRequest request{"POST", "/v1/definitions"};
      request.text = std::move(*text);
      request.content_type = "application/yaml";
      if (arguments.has("--dry-run")) request.query.emplace_back("dry_run", "true");
      const auto answer = api.call(request);
      if (!answer) return fail("definitions", answer.error(), err);
      for (const char* list : {"errors", "warnings"}) {
        if (!answer->body[list].is_array()) continue;
        for (const Json& finding : answer->body[list].items()) {
          err << file << ":" << write_json(finding["line"]) << ":" << write_json(finding["column"]) << ": "
              << finding.text_or("severity", "error") << ": " << finding.text_or("detail", "") << "\n";
        }
      }
      if (answer->ok()) {
        out << answer->body.text_or("name", "") << " " << answer->body.text_or("version", "") << "\n";
      } else {
        if (!answer->body["errors"].is_array())
          err << file << ": " << answer->body.text_or("detail", "refused") << "\n";
        code = exit_code_of_status(answer->status);
      }
    }
  }
  return code;
}

}  // namespace

const CommandSpec& definitions_spec() {
  static const CommandSpec spec{
      "definitions",
      "[list | deploy FILE|FOLDER… [--dry-run] | show NAME [VERSION] | source NAME VERSION [--to yaml|cpp] | retire "
      "NAME "
      "VERSION]",
      "List, deploy, show or retire definitions",
      "A retired version starts no new instances; its running instances continue. `show` with a VERSION prints the\n"
      "canonical form.",
      with_list_flags({{"--dry-run", "", "deploy: only validate"}, {"--to", "yaml|cpp", "source: the language"}}),
      {"cairn definitions --server http://127.0.0.1:8400", "cairn definitions deploy flows/",
       "cairn definitions retire order 1.0.0"}};
  return spec;
}

int run_definitions(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(definitions_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  const bool changes = verb == "deploy" || verb == "retire";
  const bool fits = (verb == "list" && given.size() <= 1) || (verb == "deploy" && given.size() >= 2) ||
                    (verb == "show" && (given.size() == 2 || given.size() == 3)) ||
                    ((verb == "source" || verb == "retire") && given.size() == 3);
  if (!fits)
    return wrong_call("definitions", "use list, deploy FILE…, show NAME, source NAME VERSION or retire NAME VERSION",
                      err);
  auto opened =
      ApiSession::open("definitions", arguments, changes ? ApiSession::Use::change : ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  if (verb == "list") return print_listing(api, all_definitions(), arguments, out, err);
  if (verb == "deploy") return deploy(api, arguments, in, out, err);
  ApiRequest request{verb == "retire" ? "DELETE" : "GET", "/v1/definitions/" + path_part(given[1])};
  if (given.size() == 3) request.path += "/" + path_part(given[2]);
  if (verb == "source") {
    request.path += "/source";
    if (const auto to = arguments.value("--to")) request.query.emplace_back("to", *to);
  }
  const auto answer = api.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const ApiAnswer& found = std::get<0>(answer);
  if (verb == "retire") {
    out << "retired\n";
  } else if (verb == "source" || arguments.has("--json")) {
    out << found.text << (found.text.ends_with('\n') ? "" : "\n");
  } else {
    out << write_json_pretty(found.body) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
