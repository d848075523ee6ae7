#include <algorithm>

#include "base/time.h"
#include "definition/decompile.h"
#include "definition/decompile_defaults.h"
#include "definition/document.h"
#include "definition/keys.h"
#include "definition/schedules.h"
#include "definition/step_kinds.h"
#include "definition/yaml_document.h"

namespace cairn {
namespace {

YamlNode steps_node(const Json& steps);

YamlNode value_node(const Json& value) {
  if (const Json* text = expression_of(value)) return YamlNode::of_text("= " + std::string(text->as_string()));
  if (value.is_array()) {
    YamlNode node = YamlNode::list();
    for (const Json& item : value.items()) node.add(value_node(item));
    return node;
  }
  if (value.is_object() && value.find("$literal") == nullptr) {
    YamlNode node = YamlNode::map();
    for (const Json::Member& member : value.members()) node.put(member.key.view(), value_node(member.value));
    return node;
  }
  return YamlNode::of_json(value);
}

YamlNode condition_node(const Json& value) {
  const Json* text = expression_of(value);
  if (text == nullptr) return value_node(value);
  const std::string_view written = text->as_string();
  if (written == "true" || written == "false") return YamlNode::scalar(std::string(written));
  return YamlNode::of_text(written);
}

YamlNode duration_node(const Json& value) {
  if (!value.is_string()) return value_node(value);
  const Result<Duration> duration = parse_duration(value.as_string());
  return YamlNode::of_text(duration ? format_duration_short(*duration) : value.as_string());
}

// Writes a JSON Schema with the keywords that name the type before those that restrict it.
YamlNode schema_node(const Json& schema) {
  static constexpr std::string_view leading[] = {"$schema", "$id",   "title",    "description", "type", "format",
                                                 "enum",    "const", "required", "properties",  "items"};
  if (!schema.is_object()) return YamlNode::of_json(schema);
  YamlNode node = YamlNode::map();
  const auto put = [&node](std::string_view keyword, const Json& value) {
    YamlNode written;
    if (keyword == "items") {
      written = schema_node(value);
    } else if (keyword == "properties" && value.is_object()) {
      written = YamlNode::map();
      for (const Json::Member& member : value.members()) written.put(member.key.view(), schema_node(member.value));
    } else {
      written = YamlNode::of_json(value);
    }
    node.put(keyword, std::move(written));
  };
  for (const std::string_view keyword : leading) {
    if (const Json* value = schema.find(keyword)) put(keyword, *value);
  }
  for (const Json::Member& member : schema.members()) {
    const bool led = std::find(std::begin(leading), std::end(leading), member.key.view()) != std::end(leading);
    if (!led) put(member.key, member.value);
  }
  return node;
}

template <class Each>
YamlNode list_node(const Json& value, Each each) {
  if (!value.is_array()) return value_node(value);
  YamlNode node = YamlNode::list();
  for (const Json& item : value.items()) node.add(each(item));
  return node;
}

// Writes a list of {name: …, value: …} as a map, unless a name repeats.
YamlNode named_node(const Json& list, std::string_view name_key, std::string_view value_key,
                    YamlNode (*each)(const Json&)) {
  if (!list.is_array()) return value_node(list);
  YamlNode map = YamlNode::map();
  for (const Json& entry : list.items()) {
    const std::string_view name = entry.text_or(name_key, "");
    for (const auto& [earlier, value] : map.members) {
      if (earlier != name) continue;
      return list_node(list, [&](const Json& item) {
        YamlNode node = YamlNode::map();
        node.put(name_key, YamlNode::of_text(item.text_or(name_key, "")));
        node.put(value_key, each(item[value_key]));
        return node;
      });
    }
    map.put(name, each(entry[value_key]));
  }
  return map;
}

YamlNode object_node(const Json& value, const KeyTable& table);

YamlNode wait_node(const Json& value, const KeyTable& table) {
  const Json* length = value.find("for");
  return length != nullptr ? duration_node(*length) : object_node(value, table);
}

YamlNode retry_node(const Json& value, const KeyTable& table) {
  YamlNode node = object_node(value, table);
  const bool once = node.members.size() == 1 && value["attempts"] == Json(1);
  return once ? YamlNode::of_text("none") : node;
}

YamlNode signals_node(const Json& value, const KeyTable& table) {
  if (!value.is_object()) return value_node(value);
  YamlNode node = YamlNode::map();
  for (const Json::Member& member : value.members()) node.put(member.key.view(), object_node(member.value, table));
  return node;
}

YamlNode shaped_node(const Json& value, const Key& key) {
  switch (key.shape) {
    case Shape::schema: return schema_node(value);
    case Shape::condition: return condition_node(value);
    case Shape::conditions: return list_node(value, condition_node);
    case Shape::duration:
    case Shape::duration_literal:
    case Shape::due: return duration_node(value);
    case Shape::durations: return list_node(value, duration_node);
    case Shape::steps:
    case Shape::some_steps: return steps_node(value);
    case Shape::assignments: return named_node(value, "path", "value", value_node);
    case Shape::branches: return named_node(value, "name", "steps", steps_node);
    case Shape::wait: return wait_node(value, *key.inner);
    case Shape::retry: return retry_node(value, *key.inner);
    case Shape::signals: return signals_node(value, *key.inner);
    case Shape::object: return object_node(value, *key.inner);
    case Shape::objects:
    case Shape::maybe_objects:
      return list_node(value, [&key](const Json& item) { return object_node(item, *key.inner); });
    case Shape::value:
    case Shape::text_value:
    case Shape::texts_value:
    case Shape::list_value:
    case Shape::object_value:
    case Shape::integer_value:
    case Shape::time: return value_node(value);
    case Shape::text:
    case Shape::label:
    case Shape::labels:
    case Shape::branch_name:
    case Shape::workflow_name:
    case Shape::version:
    case Shape::step_id:
    case Shape::identifier:
    case Shape::signal_name:
    case Shape::type_name:
    case Shape::path:
    case Shape::boolean:
    case Shape::integer:
    case Shape::number:
    case Shape::choice:
    case Shape::cron:
    case Shape::statuses:
    case Shape::join:
    case Shape::derived: return YamlNode::of_json(value);
  }
  return YamlNode::of_json(value);
}

void put_keys(YamlNode& node, const Json& object, const KeyTable& table) {
  for (const Key& key : table.keys) {
    const Json* value = object.find(key.name);
    if (value == nullptr || is_left_out(object, table, key, *value)) continue;
    node.put(key.name, shaped_node(*value, key));
  }
}

YamlNode object_node(const Json& value, const KeyTable& table) {
  if (!value.is_object()) return value_node(value);
  YamlNode node = YamlNode::map();
  // Only a call may have a key that no table lists: the name of a registered transport.
  for (const Json::Member& member : value.members()) {
    if (table.find(member.key) == nullptr) node.put(member.key.view(), value_node(member.value));
  }
  put_keys(node, value, table);
  return node;
}

void drop_empty_default(YamlNode& cases) {
  if (cases.items.size() < 2) return;
  const YamlNode& last = cases.items.back();
  if (last.members.size() == 1 && last.members.front().key == "default" && last.members.front().value.items.empty()) {
    cases.items.pop_back();
  }
}

YamlNode step_node(const Json& step) {
  YamlNode node = YamlNode::map();
  const StepKind* kind = find_step_kind(step.text_or("type", ""));
  if (kind == nullptr) return value_node(step);
  if (is_given_id(step.text_or("id", ""))) node.put("id", YamlNode::of_text(step.text_or("id", "")));
  if (const Json* title = step.find("title"); title != nullptr && title->is_string()) {
    node.put("title", YamlNode::of_text(title->as_string()));
    node.comment = title->as_string();
  }
  if (const Json* when = step.find("when")) node.put("when", condition_node(*when));
  put_keys(node, step, {kind->name, kind->keys});
  if (kind->name == "switch" && !node.members.empty()) drop_empty_default(node.members.back().value);
  // `try` requires `catch` or `finally`.
  if (kind->name == "try" && !node.members.empty() && node.members.back().key == "try") {
    node.put("finally", YamlNode::list());
  }
  if (const Json* undo = step.find("compensate")) node.put("compensate", steps_node(*undo));
  return node;
}

YamlNode steps_node(const Json& steps) {
  YamlNode node = list_node(steps, step_node);
  // Several steps are written as a list. A single short step may follow its key on the same line.
  node.spread = node.items.size() > 1;
  for (YamlNode& item : node.items) item.spread = item.members.size() > 1;
  return node;
}

}  // namespace

std::string decompile_yaml(const Json& canonical) {
  YamlNode root = YamlNode::map();
  put_keys(root, canonical, document_table);
  for (auto& [key, node] : root.members) {
    if (key != "steps") continue;
    node.spread = true;
    for (YamlNode& step : node.items) step.spread = true;
  }
  return write_yaml(root);
}

}  // namespace cairn
