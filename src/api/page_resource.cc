// `/`: a plain page with open tasks and instances. It loads no external scripts and has one form per task.
#include "api/api.h"
#include "api/problem.h"
#include "engine/task_rights.h"

namespace cairn::api {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out.push_back(c);
    }
  }
  return out;
}

constexpr std::string_view head = R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><title>cairn</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
textarea{width:100%;font:13px monospace}code{font-size:.9em}button{padding:.3rem .8rem}output{color:#b00020}</style></head><body>
<h1>cairn</h1>)";

// Sends a task's answer as JSON and shows the error if the server refuses it.
constexpr std::string_view script = R"(<script>
document.querySelectorAll('form[data-post]').forEach(form => form.addEventListener('submit', async event => {
  event.preventDefault();
  const said = form.querySelector('output');
  let body;
  try { body = form.dataset.wrap ? {[form.dataset.wrap]: JSON.parse(form.body.value)} : JSON.parse(form.body.value); }
  catch (problem) { said.textContent = 'Not JSON: ' + problem.message; return; }
  const answer = await fetch(form.dataset.post, {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)});
  if (answer.ok) location.reload(); else said.textContent = (await answer.json()).detail;
}));
</script>)";

// A first suggestion for an answer that the form accepts.
Json suggestion(const Json& form) {
  Json answer = Json::object();
  if (form["properties"].is_object()) {
    for (const Json::Member& property : form["properties"].members()) {
      const Json& choices = property.value["enum"];
      const std::string_view type = property.value.text_or("type", "");
      if (choices.is_array() && choices.size() > 0) {
        answer.set(property.key, choices.items()[0]);
      } else if (type == "boolean") {
        answer.set(property.key, true);
      } else if (type == "number" || type == "integer") {
        answer.set(property.key, 1);
      } else {
        answer.set(property.key, "");
      }
    }
  }
  if (form["required"].is_array()) {
    for (const Json& name : form["required"].items()) {
      if (name.is_string() && !answer.find(name.as_string())) answer.set(name.as_string(), "");
    }
  }
  return answer;
}

std::string post_form(const std::string& target, std::string_view wrap, const Json& body, std::string_view button) {
  return "<form data-post=\"" + escaped(target) + "\"" +
         (wrap.empty() ? "" : " data-wrap=\"" + std::string(wrap) + "\"") +
         "><textarea name=\"body\" rows=\"3\" aria-label=\"JSON\">" + escaped(write_json_pretty(body)) +
         "</textarea> <button>" + std::string(button) + "</button> <output></output></form>";
}

std::string tasks_section(const Page<TaskRow>& tasks) {
  std::string html = "<h2>Tasks</h2>";
  if (tasks.items.empty()) return html + "<p>There are no open tasks. Start an instance below.</p>";
  html += "<table><tr><th>Task</th><th>Reference</th><th>About</th><th>Answer</th></tr>";
  for (const TaskRow& task : tasks.items) {
    const std::string key = task.reference.key.is_string() ? std::string(task.reference.key.as_string()) : "";
    html += "<tr><td><b>" + escaped(task.title) + "</b><br>" + escaped(task.name) + "</td><td>" + escaped(key) +
            "</td><td><code>" + escaped(write_json(task.payload)) + "</code></td><td>" +
            post_form("/v1/tasks/" + task.id.value + "/complete", "payload", suggestion(task.form), "Complete") +
            "</td></tr>";
  }
  return html + "</table>";
}

std::string instances_section(const Page<InstanceRow>& instances) {
  std::string html = "<h2>Instances</h2>";
  if (instances.items.empty()) return html + "<p>None yet.</p>";
  html += "<table><tr><th>Instance</th><th>Definition</th><th>Status</th><th>Changed</th></tr>";
  for (const InstanceRow& row : instances.items) {
    html += "<tr><td><a href=\"/v1/instances/" + escaped(row.id.value) + "\"><code>" + escaped(row.id.value) +
            "</code></a></td><td>" + escaped(row.program.name) + "</td><td>" + to_string(row.status) + "</td><td>" +
            format_timestamp(row.changed_at) + "</td></tr>";
  }
  return html + "</table>";
}

std::string definitions_section(const Page<DefinitionRow>& definitions) {
  std::string html =
      "<h2>Definitions</h2><table><tr><th>Definition</th><th>Picture</th><th>Start with this input</th></tr>";
  for (const DefinitionRow& row : definitions.items) {
    const std::string place = "/v1/definitions/" + row.name + "/" + row.version;
    const Json order = Json::object({{"definition", row.name}, {"input", suggestion(row.canonical["input"])}});
    html += "<tr><td>" + escaped(row.name) + " " + escaped(row.version) + "<br>" +
            escaped(row.canonical.text_or("title", "")) + "</td><td><a href=\"" + escaped(place) +
            "/diagram\">diagram</a> · <a href=\"" + escaped(place) + "/source?to=yaml\">source</a></td><td>" +
            post_form("/v1/instances", "", order, "Start") + "</td></tr>";
  }
  return html + "</table>";
}

void page(EngineCore& core, const Call& call) {
  // The page shows what the lists under /v1 would show to the same caller.
  const bool sees_tasks = call.identity.may(Permission::view_tasks);
  TaskFilter filter;
  filter.viewer_roles = viewer_roles_of(actor_of(call));
  const auto tasks = sees_tasks ? core.store().list_tasks(filter, {50, ""}) : Result<Page<TaskRow>>(Page<TaskRow>());
  const auto instances = core.store().list_instances({}, {50, ""});
  const auto definitions = core.store().list_definitions({100, ""});
  if (!tasks || !instances || !definitions) {
    call.reply(problem(!tasks ? tasks.error() : !instances ? instances.error() : definitions.error()));
    return;
  }
  std::string html(head);
  if (sees_tasks) html += tasks_section(*tasks);
  html += instances_section(*instances) + definitions_section(*definitions);
  html += "<p>API: <a href=\"/openapi.json\">/openapi.json</a></p>";
  html += script;
  html += "</body></html>";
  call.reply({200,
              "text/html; charset=utf-8",
              {{"x-frame-options", "DENY"},
               {"content-security-policy",
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
                "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}},
              html});
}

}  // namespace

std::vector<Route> page_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {{"GET", "/", Permission::view, "page", "A plain page of tasks, instances and definitions",
           [with](const Call& call) { page(*with, call); }}};
}

}  // namespace cairn::api
