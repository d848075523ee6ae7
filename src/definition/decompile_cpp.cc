#include <algorithm>

#include "definition/cpp_source.h"
#include "definition/decompile.h"
#include "definition/decompile_defaults.h"
#include "definition/document.h"
#include "definition/keys.h"
#include "definition/schedules.h"
#include "definition/step_kinds.h"

namespace cairn {
namespace {

std::string steps_argument(const Json& steps, std::size_t indent);

// Adds a call for every written key of `object`, except those that the constructor took.
void call_each_key(CppChain& chain, const Json& object, const KeyTable& table,
                   std::initializer_list<std::string_view> constructed = {});

std::string object_chain(std::string head, const Json& object, const KeyTable& table, std::size_t indent,
                         std::initializer_list<std::string_view> constructed) {
  CppChain chain(std::move(head), indent);
  call_each_key(chain, object, table, constructed);
  return chain.text();
}

std::string deadline_argument(const Json& deadline, const KeyTable& table, std::size_t indent) {
  const Json* after = deadline.find("after");
  const std::string head = after != nullptr ? "Deadline::after(" + cpp_length(*after) + ")"
                                            : "Deadline::at(" + cpp_instant(deadline["at"]) + ")";
  return object_chain(head, deadline, table, indent, {"after", "at"});
}

std::string http_argument(const Json& http, const KeyTable& table, std::size_t indent) {
  const std::string head =
      "Http(" + cpp_value(http["method"], indent, false) + ", " + cpp_value(http["url"], indent, false) + ")";
  return object_chain(head, http, table, indent, {"method", "url"});
}

std::string graphql_argument(const Json& graphql, const KeyTable& table, std::size_t indent) {
  const std::string head =
      "Graphql(" + cpp_value(graphql["url"], indent, false) + ", " + cpp_value(graphql["query"], indent, false) + ")";
  return object_chain(head, graphql, table, indent, {"url", "query"});
}

std::string schedule_argument(const Json& schedule, const KeyTable& table, std::size_t indent) {
  const Json* cron = schedule.find("cron");
  const std::string head = cron != nullptr ? "Schedule::cron(" + cpp_text(text_of(*cron)) + ")"
                                           : "Schedule::every(" + cpp_length(schedule["every"]) + ")";
  return object_chain(head, schedule, table, indent, {"cron", "every"});
}

std::string wait_head(const Json& wait) {
  const Json* length = wait.find("for");
  return length != nullptr ? "wait(" + cpp_length(*length) + ")" : "wait_until(" + cpp_instant(wait["until"]) + ")";
}

void call_object(CppChain& chain, const Json& value, const Key& key) {
  const std::size_t indent = chain.call_indent();
  if (key.name == "reference") {
    chain.call("reference", object_chain("Reference()", value, *key.inner, indent, {}));
  } else if (key.name == "deadline") {
    chain.call("deadline", deadline_argument(value, *key.inner, indent));
  } else if (key.name == "http") {
    chain.call("http", http_argument(value, *key.inner, indent));
  } else if (key.name == "graphql") {
    chain.call("graphql", graphql_argument(value, *key.inner, indent));
  } else if (key.name == "worker") {
    std::string arguments = cpp_text(value.text_or("type", ""));
    if (value["payload"] != Json::object()) arguments += ", " + cpp_value(value["payload"], indent, true);
    chain.call("worker", arguments);
  }
}

void call_choice(CppChain& chain, const Json& value, const Key& key) {
  if (key.name == "response") {
    chain.call("full_response");
  } else {
    chain.call(std::string(key.name) + "_" + std::string(text_of(value)));
  }
}

void call_case(CppChain& chain, const Json& entry) {
  const std::size_t indent = chain.call_indent();
  if (const Json* otherwise = entry.find("default")) {
    if (otherwise->size() > 0) chain.call("otherwise", steps_argument(*otherwise, indent));
    return;
  }
  chain.call("on", cpp_condition(entry["when"]) + ", " + steps_argument(entry["steps"], indent));
}

void call_catch(CppChain& chain, const Json& entry) {
  const std::size_t indent = chain.call_indent();
  const Json* when = entry.find("when");
  if (when == nullptr) {
    chain.call("catch_", steps_argument(entry["steps"], indent));
  } else {
    chain.call("catch_when", cpp_condition(*when) + ", " + steps_argument(entry["steps"], indent));
  }
}

std::string method_name(const KeyTable& table, const Key& key) {
  if (table.noun == "task" && key.name == "title") return "task_title";
  if (key.name == "else") return "otherwise";
  if (key.name == "finally") return "finally_";
  return std::string(key.name);
}

void call_key(CppChain& chain, const Json& value, const KeyTable& table, const Key& key) {
  const std::size_t indent = chain.call_indent();
  const std::string name = method_name(table, key);
  switch (key.shape) {
    case Shape::texts_value:
      if (value.is_array()) {
        std::vector<std::string> items;
        for (const Json& item : value.items()) items.push_back(cpp_value(item, indent, false));
        chain.call(name, cpp_braces(items, indent));
        break;
      }
      [[fallthrough]];
    case Shape::value:
    case Shape::text_value:
    case Shape::list_value:
    case Shape::object_value:
    case Shape::integer_value: chain.call(name, cpp_value(value, indent, true)); break;
    case Shape::condition: chain.call(name, cpp_condition(value)); break;
    case Shape::conditions:
      for (const Json& item : items_of(value)) chain.call(name, cpp_condition(item));
      break;
    case Shape::duration:
    case Shape::duration_literal: chain.call(name, cpp_length(value)); break;
    case Shape::durations:
      for (const Json& item : items_of(value)) chain.call(name, cpp_length(item));
      break;
    case Shape::time: chain.call(name, cpp_instant(value)); break;
    case Shape::due: {
      const bool instant = value.is_string() && !parse_duration(value.as_string());
      chain.call(instant ? "due_at" : "due", instant ? cpp_instant(value) : cpp_length(value));
      break;
    }
    case Shape::schema: chain.call(name, cpp_document(value)); break;
    case Shape::steps:
    case Shape::some_steps: chain.call(name, steps_argument(value, indent)); break;
    case Shape::statuses:
      for (const Json& item : items_of(value)) chain.call(name, cpp_value(item, indent, false));
      break;
    case Shape::branches:
      for (const Json& branch : items_of(value)) {
        chain.call("branch", cpp_text(branch.text_or("name", "")) + ", " + steps_argument(branch["steps"], indent));
      }
      break;
    case Shape::join:
      if (value.is_string()) {
        chain.call("join_" + std::string(value.as_string()));
      } else {
        chain.call("join", cpp_value(value, indent, false));
      }
      break;
    case Shape::retry: {
      const std::string retry = object_chain("Retry()", value, *key.inner, indent, {});
      const bool once = retry == "Retry().attempts(1)";
      chain.call(once ? "no_retry" : "retry", once ? "" : retry);
      break;
    }
    case Shape::object: call_object(chain, value, key); break;
    case Shape::objects:
    case Shape::maybe_objects:
      for (const Json& entry : items_of(value)) {
        if (key.name == "switch") call_case(chain, entry);
        if (key.name == "catch") call_catch(chain, entry);
        if (key.name == "schedules") chain.call("schedule", schedule_argument(entry, *key.inner, indent));
      }
      break;
    case Shape::signals:
      for (const Json::Member& member : members_of(value)) {
        chain.call("signal", cpp_text(member.key.view()) + ", " +
                                 object_chain("SignalRule()", member.value, *key.inner, indent, {}));
      }
      break;
    case Shape::labels: {
      std::vector<std::string> items;
      for (const Json& item : items_of(value)) items.push_back(cpp_text(text_of(item)));
      chain.call(name, cpp_braces(items, indent));
      break;
    }
    case Shape::choice: call_choice(chain, value, key); break;
    case Shape::boolean:
      // The only such key is a deadline's `interrupt`, whose default is true.
      chain.call("keep_task_open");
      break;
    case Shape::integer:
    case Shape::number: chain.call(name, cpp_value(value, indent, false)); break;
    case Shape::text:
    case Shape::label:
    case Shape::branch_name:
    case Shape::workflow_name:
    case Shape::version:
    case Shape::step_id:
    case Shape::identifier:
    case Shape::signal_name:
    case Shape::type_name:
    case Shape::path:
    case Shape::cron: chain.call(name, cpp_text(text_of(value))); break;
    case Shape::assignments:
    case Shape::wait:
    case Shape::derived: break;
  }
}

void call_each_key(CppChain& chain, const Json& object, const KeyTable& table,
                   std::initializer_list<std::string_view> constructed) {
  for (const Key& key : table.keys) {
    const Json* value = object.find(key.name);
    if (value == nullptr || std::find(constructed.begin(), constructed.end(), key.name) != constructed.end()) continue;
    if (!is_left_out(object, table, key, *value)) call_key(chain, *value, table, key);
  }
}

std::string set_head(const Json& assignments, std::size_t indent) {
  std::vector<std::string> items;
  for (const Json& entry : items_of(assignments)) {
    items.push_back("{" + cpp_text(entry.text_or("path", "")) + ", " + cpp_value(entry["value"], indent + 4, false) +
                    "}");
  }
  return "set(" + cpp_braces(items, indent) + ")";
}

std::string option_argument(const Json& option, const KeyTable& table, std::size_t indent) {
  std::string wait;
  if (const Json* signal = option.find("signal")) {
    wait = object_chain("signal(" + cpp_text(signal->text_or("name", "")) + ")", *signal, *table.find("signal")->inner,
                        indent, {"name"});
  } else if (const Json* task = option.find("task")) {
    wait = object_chain("task(" + cpp_text(task->text_or("name", "")) + ")", *task, *table.find("task")->inner, indent,
                        {"name"});
  } else {
    wait = wait_head(option["wait"]);
  }
  const Json& steps = option["steps"];
  return "Option(" + wait + (steps.size() == 0 ? "" : ", " + steps_argument(steps, indent)) + ")";
}

std::string first_head(const Json& options, const Key& key, std::size_t indent) {
  std::vector<std::string> items;
  for (const Json& option : items_of(options)) items.push_back(option_argument(option, *key.inner, indent + 4));
  return "first(" + cpp_braces(items, indent, true) + ")";
}

std::string repeat_head(const Json& repeat, std::size_t indent) {
  if (const Json* items = repeat.find("for_each")) return "for_each(" + cpp_value(*items, indent, false) + ")";
  if (const Json* times = repeat.find("times")) return "times(" + cpp_value(*times, indent, false) + ")";
  return "while_(" + cpp_condition(repeat["while"]) + ")";
}

// The constructor call of a step and the keys that it takes.
struct StepHead {
  std::string text;
  bool has_id = false;
};

StepHead step_head(const Json& step, const StepKind& kind, std::size_t indent) {
  const Json& body = step[kind.name];
  const auto named = [&](std::string_view function, std::string_view key) {
    return StepHead{std::string(function) + "(" + cpp_text(body.text_or(key, "")) + ")"};
  };
  if (kind.name == "set") return {set_head(body, indent)};
  if (kind.name == "reference") {
    return {"set_reference(" + object_chain("Reference()", body, *kind.keys.front().inner, indent, {}) + ")"};
  }
  if (kind.name == "call") {
    const std::string_view id = step.text_or("id", "");
    const bool given = is_given_id(id);
    return {given ? "call(" + cpp_text(id) + ")" : "call()", given};
  }
  if (kind.name == "if") return {"if_(" + cpp_condition(body) + ")"};
  if (kind.name == "switch") return {"switch_()"};
  if (kind.name == "repeat") return {repeat_head(body, indent)};
  if (kind.name == "first") return {first_head(body, kind.keys.front(), indent)};
  if (kind.name == "wait") return {wait_head(body)};
  if (kind.name == "emit") return {"emit(" + cpp_value(body["type"], indent, false) + ")"};
  if (kind.name == "try") return {"try_(" + steps_argument(body, indent) + ")"};
  if (kind.name == "fail") return named("fail", "code");
  if (kind.name == "parallel" || kind.name == "undo" || kind.name == "complete") return {std::string(kind.name) + "()"};
  return named(kind.name, "name");
}

// Adds calls for the keys of a step's body, except those that its head took.
void call_body(CppChain& chain, const Json& step, const StepKind& kind) {
  const KeyTable own{kind.name, kind.keys};
  const Json& body = step[kind.name];
  const Key& first = kind.keys.front();
  if (kind.name == "switch") {
    for (const Json& entry : items_of(body)) call_case(chain, entry);
    if (body.is_array() && body.size() == 1 && items_of(body).front()["default"].size() == 0) {
      chain.call("otherwise", "{}");
    }
    return;
  }
  if (kind.name == "try") {
    call_each_key(chain, step, own, {"try"});
    // `try` requires `catch` or `finally`.
    if (step["catch"].size() == 0 && step["finally"].size() == 0) chain.call("finally_", "{}");
    return;
  }
  if (kind.name == "if") {
    call_each_key(chain, step, own, {"if"});
    return;
  }
  if (first.shape != Shape::object || kind.name == "reference") return;
  if (kind.name == "call") {
    for (const Json::Member& member : members_of(body)) {
      if (first.inner->find(member.key) != nullptr) continue;
      chain.call("transport", cpp_text(member.key) + ", " + cpp_value(member.value, chain.call_indent(), true));
    }
    call_each_key(chain, body, *first.inner);
  } else if (kind.name == "emit") {
    call_each_key(chain, body, *first.inner, {"type"});
  } else if (kind.name == "fail") {
    call_each_key(chain, body, *first.inner, {"code"});
  } else if (kind.name == "repeat") {
    call_each_key(chain, body, *first.inner, {"for_each", "while", "times"});
  } else {
    call_each_key(chain, body, *first.inner, {"name"});
  }
}

std::string step_text(const Json& step, std::size_t indent) {
  const StepKind* kind = find_step_kind(step.text_or("type", ""));
  if (kind == nullptr) return "undo()";
  const StepHead head = step_head(step, *kind, indent);
  CppChain chain(head.text, indent);
  const std::string_view id = step.text_or("id", "");
  if (is_given_id(id) && !head.has_id) chain.call("id", cpp_text(id));
  if (const Json* title = step.find("title")) chain.call("title", cpp_text(text_of(*title)));
  if (const Json* when = step.find("when")) chain.call("when", cpp_condition(*when));
  call_body(chain, step, *kind);
  if (const Json* undo = step.find("compensate")) chain.call("compensate", steps_argument(*undo, chain.call_indent()));
  return chain.text();
}

std::string steps_argument(const Json& steps, std::size_t indent) {
  std::vector<std::string> items;
  for (const Json& step : items_of(steps)) items.push_back(step_text(step, indent + 4));
  return cpp_braces(items, indent, items.size() > 1);
}

}  // namespace

std::string decompile_cpp(const Json& canonical, std::string_view function_name) {
  CppChain chain("return workflow(" + cpp_text(canonical.text_or("name", "")) + ", " +
                     cpp_text(canonical.text_or("version", "")) + ")",
                 2);
  call_each_key(chain, canonical, document_table, {"cairn", "name", "version"});
  std::string source = "#include \"cairn/definition.h\"\n\n";
  source += "cairn::flow::Workflow " + std::string(function_name) + "() {\n";
  source += "  using namespace cairn::flow;\n";
  source += "  using namespace std::chrono_literals;\n";
  return source + "  " + chain.text() + ";\n}\n";
}

}  // namespace cairn
