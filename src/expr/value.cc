#include "expr/value.h"

#include <algorithm>

#include "expr/error_held.h"

namespace cairn::expr {

struct Value::JsonBox {
  // The first member, so that the JSON and the box have the same address.
  Json json;
  mutable std::atomic<std::uint32_t> owners{1};
};
struct Value::ListBox {
  std::atomic<std::uint32_t> owners{1};
  List items;
};
struct Value::MapBox {
  std::atomic<std::uint32_t> owners{1};
  Entries entries;  // sorted by compare_keys
};
struct Value::ValueBox {
  std::atomic<std::uint32_t> owners{1};
  Value value;
};

void Value::retain() const noexcept {
  switch (form_) {
    case Form::scalar: break;
    case Form::json:
      reinterpret_cast<const JsonBox*>(held_.json)->owners.fetch_add(1, std::memory_order_relaxed);
      break;
    case Form::list: held_.list->owners.fetch_add(1, std::memory_order_relaxed); break;
    case Form::map: held_.map->owners.fetch_add(1, std::memory_order_relaxed); break;
    case Form::box: held_.box->owners.fetch_add(1, std::memory_order_relaxed); break;
    case Form::opaque: held_.opaque->owners_.fetch_add(1, std::memory_order_relaxed); break;
    case Form::error: held_.failure->owners.fetch_add(1, std::memory_order_relaxed); break;
  }
}

void Value::drop() noexcept {
  const auto last = [](std::atomic<std::uint32_t>& owners) {
    return owners.fetch_sub(1, std::memory_order_acq_rel) == 1;
  };
  switch (form_) {
    case Form::scalar: break;
    case Form::json: {
      const auto* box = reinterpret_cast<const JsonBox*>(held_.json);
      if (last(box->owners)) delete box;
      break;
    }
    case Form::list:
      if (last(held_.list->owners)) delete held_.list;
      break;
    case Form::map:
      if (last(held_.map->owners)) delete held_.map;
      break;
    case Form::box:
      if (last(held_.box->owners)) delete held_.box;
      break;
    case Form::opaque:
      if (last(held_.opaque->owners_)) delete held_.opaque;
      break;
    case Form::error:
      if (last(held_.failure->owners)) delete held_.failure;
      break;
  }
  owned_ = false;
}

Value Value::borrow(const Json& value) noexcept {
  switch (value.kind()) {
    case Json::Kind::null: return {};
    case Json::Kind::boolean: return boolean(value.as_bool());
    case Json::Kind::integer: return integer(value.as_integer());
    case Json::Kind::number: return number(value.as_double());
    case Json::Kind::string:
    case Json::Kind::array:
    case Json::Kind::object: break;
  }
  Value result;
  result.held_.json = &value;
  result.form_ = Form::json;
  result.kind_ = value.is_string() ? Kind::string : value.is_array() ? Kind::list : Kind::map;
  return result;
}

Value Value::own(Json value) {
  Value result = borrow(value);
  if (result.form_ == Form::scalar) return result;
  auto box = std::make_unique<JsonBox>();
  box->json = std::move(value);
  result.held_.json = &box.release()->json;
  result.owned_ = true;
  return result;
}

Value Value::text(std::string_view value) { return own(Json(value)); }

Value Value::bytes(std::string_view value) {
  Value result = own(Json(value));
  result.kind_ = Kind::bytes;
  return result;
}

Value Value::list(List items) {
  Value result;
  auto box = std::make_unique<ListBox>();
  box->items = std::move(items);
  result.held_.list = box.release();
  result.kind_ = Kind::list;
  result.form_ = Form::list;
  result.owned_ = true;
  return result;
}

Value Value::map(Entries entries) {
  const auto before = [](const Entry& a, const Entry& b) { return compare_keys(a.key, b.key) < 0; };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) std::sort(entries.begin(), entries.end(), before);
  Value result;
  auto box = std::make_unique<MapBox>();
  box->entries = std::move(entries);
  result.held_.map = box.release();
  result.kind_ = Kind::map;
  result.form_ = Form::map;
  result.owned_ = true;
  return result;
}

Value Value::some(Value value) {
  Value result;
  auto box = std::make_unique<ValueBox>();
  box->value = std::move(value);
  result.held_.box = box.release();
  result.kind_ = Kind::optional;
  result.form_ = Form::box;
  result.owned_ = true;
  return result;
}

Value Value::none() noexcept {
  Value result;
  result.held_.box = nullptr;
  result.kind_ = Kind::optional;
  return result;
}

Value Value::opaque(Kind kind, std::unique_ptr<const Opaque> value) {
  Value result;
  result.held_.opaque = value.release();
  result.kind_ = kind;
  result.form_ = Form::opaque;
  result.owned_ = true;
  return result;
}

Value Value::error(ErrorHeld* held) noexcept {
  Value result;
  result.held_.failure = held;
  result.kind_ = Kind::error;
  result.form_ = Form::error;
  result.owned_ = true;
  return result;
}

std::size_t Value::size() const noexcept {
  switch (form_) {
    case Form::json: return held_.json->size();
    case Form::list: return held_.list->items.size();
    case Form::map: return held_.map->entries.size();
    case Form::scalar:
    case Form::box:
    case Form::opaque:
    case Form::error: break;
  }
  return 0;
}

Value Value::item(std::size_t index) const {
  if (form_ == Form::list) return inside(held_.list->items[index]);
  return inside(held_.json->items()[index]);
}

Value Value::key(std::size_t index) const {
  if (form_ == Form::map) return inside(held_.map->entries[index].key);
  const Text& name = held_.json->members()[index].key;
  return own(Json(name));
}

Value Value::value(std::size_t index) const {
  if (form_ == Form::map) return inside(held_.map->entries[index].value);
  return inside(held_.json->members()[index].value);
}

std::optional<Value> Value::find(std::string_view key) const {
  if (form_ == Form::json) {
    const Json* found = held_.json->find(key);
    if (!found) return std::nullopt;
    return inside(*found);
  }
  const Entries& entries = held_.map->entries;
  const auto it = std::partition_point(entries.begin(), entries.end(), [&](const Entry& entry) {
    return !entry.key.is(Kind::string) || entry.key.as_text() < key;
  });
  if (it == entries.end() || it->key.as_text() != key) return std::nullopt;
  return inside(it->value);
}

std::optional<Value> Value::find(const Value& key) const {
  if (key.is(Kind::string)) return find(key.as_text());
  if (form_ == Form::json || !(key.is(Kind::boolean) || key.is_number())) return std::nullopt;
  if (key.is(Kind::number) && key.as_number() != key.as_number()) return std::nullopt;
  const Entries& entries = held_.map->entries;
  const auto it = std::partition_point(entries.begin(), entries.end(),
                                       [&](const Entry& entry) { return compare_keys(entry.key, key) < 0; });
  if (it == entries.end() || compare_keys(it->key, key) != 0) return std::nullopt;
  return inside(it->value);
}

bool Value::contains(std::string_view key) const {
  if (form_ == Form::json) return held_.json->find(key) != nullptr;
  return find(key).has_value();
}
bool Value::contains(const Value& key) const {
  if (key.is(Kind::string)) return contains(key.as_text());
  return find(key).has_value();
}

Value Value::optional_value() const { return inside(held_.box->value); }

Value::List& Value::building_items() noexcept { return held_.list->items; }
Value::Entries& Value::building_entries() noexcept { return held_.map->entries; }

bool Value::borrows() const noexcept {
  switch (form_) {
    case Form::scalar: return false;
    case Form::json:
    case Form::opaque:
    case Form::error: return !owned_;
    case Form::list:
      return !owned_ || std::any_of(held_.list->items.begin(), held_.list->items.end(),
                                    [](const Value& item) { return item.borrows(); });
    case Form::map:
      return !owned_ || std::any_of(held_.map->entries.begin(), held_.map->entries.end(),
                                    [](const Entry& entry) { return entry.key.borrows() || entry.value.borrows(); });
    case Form::box: return !owned_ || held_.box->value.borrows();
  }
  return false;
}

Value Value::self_contained() const {
  if (!borrows()) return *this;
  switch (form_) {
    case Form::json: {
      Value result = own(*held_.json);
      result.kind_ = kind_;
      return result;
    }
    case Form::list: {
      List items;
      items.reserve(size());
      for (const Value& item : held_.list->items) items.push_back(item.self_contained());
      return list(std::move(items));
    }
    case Form::map: {
      Entries entries;
      entries.reserve(size());
      for (const Entry& entry : held_.map->entries) {
        entries.push_back({entry.key.self_contained(), entry.value.self_contained()});
      }
      return map(std::move(entries));
    }
    case Form::box: return some(held_.box->value.self_contained());
    case Form::opaque:
    case Form::error: {
      // Counted objects: only the reference count is missing.
      Value result = *this;
      result.retain();
      result.owned_ = true;
      return result;
    }
    case Form::scalar: break;
  }
  return *this;
}

std::string_view type_name(const Value& value) noexcept {
  switch (value.kind()) {
    case Value::Kind::null: return "null_type";
    case Value::Kind::boolean: return "bool";
    case Value::Kind::integer: return "int";
    case Value::Kind::unsigned_integer: return "uint";
    case Value::Kind::number: return "double";
    case Value::Kind::string: return "string";
    case Value::Kind::bytes: return "bytes";
    case Value::Kind::list: return "list";
    case Value::Kind::map: return "map";
    case Value::Kind::timestamp: return "google.protobuf.Timestamp";
    case Value::Kind::duration: return "google.protobuf.Duration";
    case Value::Kind::type: return "type";
    case Value::Kind::optional: return "optional_type";
    case Value::Kind::decimal:
    case Value::Kind::opaque: return value.as_opaque().type_name();
    case Value::Kind::error: break;
  }
  return "error";
}

std::string with_article(std::string_view noun) {
  // `uint` begins with a consonant sound.
  const bool vowel = !noun.empty() && std::string_view("aeio").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

std::string_view describe(Value::Kind kind) noexcept {
  switch (kind) {
    case Value::Kind::null: return "null";
    case Value::Kind::boolean: return "bool";
    case Value::Kind::integer: return "int";
    case Value::Kind::unsigned_integer: return "uint";
    case Value::Kind::number: return "double";
    case Value::Kind::string: return "string";
    case Value::Kind::bytes: return "bytes";
    case Value::Kind::list: return "list";
    case Value::Kind::map: return "map";
    case Value::Kind::timestamp: return "timestamp";
    case Value::Kind::duration: return "duration";
    case Value::Kind::type: return "type";
    case Value::Kind::optional: return "optional";
    case Value::Kind::decimal: return "decimal";
    case Value::Kind::opaque: return "opaque";
    case Value::Kind::error: break;
  }
  return "error";
}

}  // namespace cairn::expr
