#include "api/api.h"
#include "api/documents.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "definition/decompile.h"
#include "definition/definition.h"
#include "schedule/schedules.h"

namespace cairn::api {
namespace {

void deploy(EngineCore& core, const Call& call) {
  const Definition definition = load_definition(call.request.body, "definition", core.context().options.limits);
  Json errors = Json::array();
  for (const Diagnostic& finding : definition.diagnostics) {
    errors.push_back(
        Json::object({{"pointer", finding.pointer},
                      {"detail", finding.message},
                      {"line", finding.line},
                      {"column", finding.column},
                      {"severity", finding.severity == Diagnostic::Severity::error ? "error" : "warning"}}));
  }
  if (!definition.valid()) {
    call.reply(problem(422, "definition_invalid", "The definition is not valid",
                       format_diagnostic("definition", definition.diagnostics.front()),
                       Json::object({{"errors", errors}})));
    return;
  }
  const Json answer = Json::object({{"name", definition.program->name},
                                    {"version", definition.program->version},
                                    {"digest", definition.digest},
                                    {"warnings", errors}});
  for (const auto& parameter : call.request.query) {
    if (parameter.first == "dry_run" && parameter.second != "false") {
      call.reply(json_response(answer));
      return;
    }
  }
  if (const auto deployed = cairn::deploy(core, definition.program); !deployed) {
    call.reply(problem(deployed.error()));
    return;
  }
  call.reply(json_response(answer, 201));
}

void find(EngineCore& core, const Call& call, const std::function<void(const DefinitionRow&)>& then) {
  const std::string version(call.at("version"));
  const auto row = core.store().find_definition(std::string(call.at("name")),
                                                version.empty() ? std::nullopt : std::optional<std::string>(version));
  if (!row) {
    call.reply(problem(row.error()));
  } else if (!*row) {
    call.reply(problem({ErrorCode::not_found,
                        "no definition " + std::string(call.at("name")) + (version.empty() ? "" : " " + version)}));
  } else {
    then(**row);
  }
}

}  // namespace

std::vector<Route> definition_routes(EngineCore& core) {
  EngineCore* const with = &core;
  const auto list = [with](const Call& call) {
    const auto fetch = [with](const PageRequest& page) { return with->store().list_definitions(page); };
    call.reply(page_answer(call, fetch, [](const DefinitionRow& row) { return document(row); }));
  };
  const auto show = [with](const Call& call) {
    find(*with, call, [&call](const DefinitionRow& row) { call.reply(json_response(document(row))); });
  };
  const auto canonical = [with](const Call& call) {
    find(*with, call, [&call](const DefinitionRow& row) { call.reply(json_response(row.canonical)); });
  };
  const auto source = [with](const Call& call) {
    find(*with, call, [&call](const DefinitionRow& row) {
      const bool cpp = call.request.query_value("to") == "cpp";
      call.reply({200,
                  "text/plain; charset=utf-8",
                  {},
                  cpp ? decompile_cpp(row.canonical, "definition") : decompile_yaml(row.canonical)});
    });
  };
  const auto retire = [with](const Call& call) {
    const auto done = with->registry().retire(std::string(call.at("name")), std::string(call.at("version")));
    if (!done) {
      call.reply(problem(done.error()));
    } else if (!*done) {
      call.reply(problem({ErrorCode::not_found,
                          "no definition " + std::string(call.at("name")) + " " + std::string(call.at("version"))}));
    } else {
      call.reply({204, "application/json", {}, ""});
    }
  };
  const std::vector<QueryParameter> pages{{"limit", "maximum number of items"},
                                          {"cursor", "next_cursor of the previous page"}};
  return {
      {"POST",
       "/v1/definitions",
       Permission::deploy,
       "deployDefinition",
       "Deploy a definition, YAML or JSON",
       [with](const Call& call) { deploy(*with, call); },
       {{"dry_run", "only validate"}},
       {},
       "application/yaml, application/json, application/x-yaml, text/yaml, text/x-yaml"},
      {"GET", "/v1/definitions", Permission::view, "listDefinitions", "List definitions", list, pages},
      {"GET", "/v1/definitions/{name}", Permission::view, "getDefinition", "The newest version of a definition", show},
      {"GET", "/v1/definitions/{name}/{version}", Permission::view, "getCanonical", "The canonical form", canonical},
      {"GET",
       "/v1/definitions/{name}/{version}/source",
       Permission::view,
       "getDefinitionSource",
       "Source that compiles to this definition",
       source,
       {{"to", "yaml or cpp"}}},
      {"DELETE", "/v1/definitions/{name}/{version}", Permission::deploy, "retireDefinition",
       "Retire a version: it starts no new instances", retire},
  };
}

}  // namespace cairn::api
