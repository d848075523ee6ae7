#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace cairn {

// A block's note. Several threads may read the value and note the same at the same time: the first one stays.
class Json::NoteSlot {
 public:
  NoteSlot() = default;
  ~NoteSlot() { drop(); }
  NoteSlot(const NoteSlot&) = delete;
  NoteSlot& operator=(const NoteSlot&) = delete;

  const JsonNote* get() const noexcept { return note_.load(std::memory_order_acquire); }
  void keep(std::unique_ptr<JsonNote> note) noexcept {
    const JsonNote* none = nullptr;
    if (note_.compare_exchange_strong(none, note.get(), std::memory_order_acq_rel)) note.release();
  }
  // Only the sole owner of the block calls this.
  void drop() noexcept {
    if (const JsonNote* gone = note_.load(std::memory_order_relaxed)) {
      note_.store(nullptr, std::memory_order_relaxed);
      delete gone;
    }
  }

 private:
  std::atomic<const JsonNote*> note_{nullptr};
};

struct Json::ArrayBlock {
  std::atomic<std::uint32_t> owners{1};
  NoteSlot note;
  Array items;
};
struct Json::ObjectBlock {
  std::atomic<std::uint32_t> owners{1};
  NoteSlot note;
  Members members;
};

namespace {

const Json null_value;
const Json::Members no_members;

auto lower_bound(Json::Members& members, std::string_view key) {
  return std::lower_bound(members.begin(), members.end(), key,
                          [](const Json::Member& member, std::string_view name) { return member.key.view() < name; });
}

}  // namespace

Json::Json(Array items) : kind_(Kind::array) {
  auto block = std::make_unique<ArrayBlock>();
  block->items = std::move(items);
  held_.array = block.release();
}

Json Json::object(Members members) {
  if (members.empty()) return object();
  const auto before = [](const Member& a, const Member& b) { return a.key.view() < b.key.view(); };
  // Members usually arrive in order. Checking that first avoids the memory that a stable sort allocates.
  const auto disorder = std::adjacent_find(members.begin(), members.end(),
                                           [&](const Member& a, const Member& b) { return !before(a, b); });
  if (disorder != members.end()) {
    std::stable_sort(members.begin(), members.end(), before);
    auto kept = members.begin();
    for (auto it = members.begin(); it != members.end(); ++it) {
      if (kept != members.begin() && std::prev(kept)->key == it->key) {
        std::prev(kept)->value = std::move(it->value);
      } else {
        if (kept != it) *kept = std::move(*it);
        ++kept;
      }
    }
    members.erase(kept, members.end());
  }
  auto block = std::make_unique<ObjectBlock>();
  block->members = std::move(members);
  Json result;
  result.kind_ = Kind::object;
  result.held_.object = block.release();
  return result;
}

Json Json::object() {
  Json result;
  result.kind_ = Kind::object;
  result.held_.object = nullptr;
  return result;
}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Members list;
  list.reserve(members.size());
  for (const auto& [key, value] : members) list.emplace_back(key, value);
  return object(std::move(list));
}

Json::Json(const Json& other) noexcept : kind_(other.kind_) {
  switch (kind_) {
    case Kind::null:
    case Kind::integer: held_.integer = other.held_.integer; break;
    case Kind::boolean: held_.boolean = other.held_.boolean; break;
    case Kind::number: held_.number = other.held_.number; break;
    case Kind::string: ::new (&held_.text) Text(other.held_.text); break;
    case Kind::array:
      held_.array = other.held_.array;
      held_.array->owners.fetch_add(1, std::memory_order_relaxed);
      break;
    case Kind::object:
      held_.object = other.held_.object;
      if (held_.object) held_.object->owners.fetch_add(1, std::memory_order_relaxed);
      break;
  }
}

void Json::release() noexcept {
  switch (kind_) {
    case Kind::string: held_.text.~Text(); break;
    case Kind::array:
      if (held_.array->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_.array;
      break;
    case Kind::object:
      if (held_.object && held_.object->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_.object;
      break;
    case Kind::null:
    case Kind::boolean:
    case Kind::integer:
    case Kind::number: break;
  }
  kind_ = Kind::null;
}

const Json::Array& Json::items() const {
  CAIRN_ASSERT(is_array());
  return held_.array->items;
}
const Json::Members& Json::members() const {
  CAIRN_ASSERT(is_object());
  return held_.object ? held_.object->members : no_members;
}

std::size_t Json::size() const noexcept {
  if (kind_ == Kind::array) return held_.array->items.size();
  if (kind_ == Kind::object) return held_.object ? held_.object->members.size() : 0;
  return 0;
}

const Json* Json::find(std::string_view key) const noexcept {
  if (kind_ != Kind::object || !held_.object) return nullptr;
  Members& members = held_.object->members;
  // A linear search is faster for few members, because most keys already differ in length.
  constexpr std::size_t few = 8;
  if (members.size() <= few) {
    for (const Member& member : members) {
      if (member.key == key) return &member.value;
    }
    return nullptr;
  }
  const auto it = lower_bound(members, key);
  return it != members.end() && it->key == key ? &it->value : nullptr;
}

const Json& Json::operator[](std::string_view key) const noexcept {
  const Json* found = find(key);
  return found ? *found : null_value;
}

std::string_view Json::text_or(std::string_view key, std::string_view otherwise) const noexcept {
  const Json* found = find(key);
  return found && found->is_string() ? found->held_.text.view() : otherwise;
}

Json::ArrayBlock& Json::own_array() {
  if (is_null()) *this = Json(Array{});
  CAIRN_ASSERT(is_array());
  if (held_.array->owners.load(std::memory_order_acquire) != 1) {
    *this = Json(held_.array->items);
  } else {
    held_.array->note.drop();
  }
  return *held_.array;
}

Json::ObjectBlock& Json::own_object() {
  if (is_null()) *this = object();
  CAIRN_ASSERT(is_object());
  if (!held_.object || held_.object->owners.load(std::memory_order_acquire) != 1) {
    auto block = std::make_unique<ObjectBlock>();
    block->members = members();
    Json copy;
    copy.kind_ = Kind::object;
    copy.held_.object = block.release();
    swap(copy);
  } else {
    held_.object->note.drop();
  }
  return *held_.object;
}

Json& Json::edit(std::string_view key) {
  Members& members = own_object().members;
  auto it = lower_bound(members, key);
  if (it == members.end() || it->key != key) it = members.emplace(it, key, Json());
  return it->value;
}

void Json::set(std::string_view key, Json value) { edit(key) = std::move(value); }

bool Json::erase(std::string_view key) {
  if (!find(key)) return false;
  Members& members = own_object().members;
  members.erase(lower_bound(members, key));
  return true;
}

void Json::push_back(Json value) { own_array().items.push_back(std::move(value)); }
Json::Array& Json::edit_items() { return own_array().items; }

const JsonNote* Json::note() const noexcept {
  switch (kind_) {
    case Kind::array: return held_.array->note.get();
    case Kind::object: return held_.object ? held_.object->note.get() : nullptr;
    case Kind::string: return held_.text.note();
    case Kind::null:
    case Kind::boolean:
    case Kind::integer:
    case Kind::number: break;
  }
  return nullptr;
}

bool Json::keep_note(std::unique_ptr<JsonNote> note) const {
  if (kind_ == Kind::string) return held_.text.keep_note(std::move(note));
  if (kind_ == Kind::array) {
    held_.array->note.keep(std::move(note));
    return true;
  }
  if (kind_ != Kind::object || !held_.object) return false;
  held_.object->note.keep(std::move(note));
  return true;
}

bool operator==(const Json& a, const Json& b) noexcept {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Json::Kind::null: return true;
    case Json::Kind::boolean: return a.held_.boolean == b.held_.boolean;
    case Json::Kind::integer: return a.held_.integer == b.held_.integer;
    case Json::Kind::number: return a.held_.number == b.held_.number;
    case Json::Kind::string: return a.held_.text == b.held_.text;
    case Json::Kind::array: return a.held_.array == b.held_.array || a.held_.array->items == b.held_.array->items;
    case Json::Kind::object: return a.held_.object == b.held_.object || a.members() == b.members();
  }
  return false;
}

int compare_exactly(std::int64_t a, double b) noexcept {
  // 2^63 is exact as a double, so the range check loses nothing. Inside the range the truncated double is exact as an
  // int64, and its fraction decides ties.
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  const auto whole = static_cast<std::int64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  const double fraction = b - static_cast<double>(whole);
  return fraction > 0 ? -1 : fraction < 0 ? 1 : 0;
}

bool same_value(const Json& a, const Json& b) noexcept {
  if (a.is_number() && b.is_number()) {
    if (a.kind() == b.kind()) return a == b;
    return a.is_integer() ? compare_exactly(a.as_integer(), b.as_double()) == 0
                          : compare_exactly(b.as_integer(), a.as_double()) == 0;
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same_value);
  }
  if (a.is_object()) {
    return std::equal(
        a.members().begin(), a.members().end(), b.members().begin(), b.members().end(),
        [](const Json::Member& x, const Json::Member& y) { return x.key == y.key && same_value(x.value, y.value); });
  }
  return a == b;
}

const char* to_string(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return "boolean";
    case Json::Kind::integer: return "integer";
    case Json::Kind::number: return "number";
    case Json::Kind::string: return "string";
    case Json::Kind::array: return "array";
    case Json::Kind::object: return "object";
  }
  return "unknown";
}

}  // namespace cairn
