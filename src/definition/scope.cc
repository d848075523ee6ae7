#include "definition/scope.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr std::uint32_t bit(std::uint32_t slot) { return 1u << slot; }

struct FixedName {
  const char* name;
  const char* unavailable;
};

// In slot order. The text completes "`task` cannot be used here, only in …".
constexpr FixedName fixed_names[] = {
    {"input", "only once an instance has started"},
    {"state", "only in steps and `output`: it is being made from `input`"},
    {"ref", "only in `state`, steps and `output`: it is being made from `input`"},
    {"workflow", "only once an instance has started"},
    {"config", ""},
    {"now", ""},
    {"task",
     "only in the task's `require`, `on_complete` and `deadline`, and in the `steps` of a task option of `first`"},
    {"completion", "only in the task's `require` and `on_complete`, and in the `steps` of a task option of `first`"},
    {"signal",
     "only in the signal's `where` and in the `steps` of a signal option of `first`; after a `signal` step use "
     "its `result`"},
    {"error", "only in `catch` and `on_failure`"},
    {"index", "only in the `steps` of a `repeat`"},
};
static_assert(std::size(fixed_names) == slot_first_item);

using Members = std::vector<expr::Type::Member>;

expr::Type fixed_type(std::uint32_t slot) {
  using expr::Type;
  static const Type ref =
      Type::object(Members{{"key", Type::dyn(), true}, {"parts", Type::map(Type::string(), Type::dyn()), true}}, true);
  static const Type workflow = Type::object(
      Members{{"name", Type::string(), true}, {"version", Type::string(), true}, {"instance_id", Type::string(), true}},
      true);
  static const Type task = Type::object(Members{{"id", Type::string(), true},
                                                {"name", Type::string(), true},
                                                {"title", Type::dyn(), true},
                                                {"roles", Type::list(Type::string()), true},
                                                {"payload", Type::dyn(), true},
                                                {"created_at", Type::dyn(), true},
                                                {"assignee", Type::dyn(), true},
                                                {"completed_by", Type::dyn(), false},
                                                {"completed_at", Type::dyn(), false}},
                                        true);
  static const Type error = Type::object(Members{{"class", Type::string(), true},
                                                 {"code", Type::string(), true},
                                                 {"message", Type::string(), true},
                                                 {"details", Type::dyn(), true},
                                                 {"attempt", Type::integer(), true}},
                                         true);
  switch (slot) {
    case slot_ref: return ref;
    case slot_workflow: return workflow;
    case slot_task: return task;
    case slot_error: return error;
    case slot_now: return Type::timestamp();
    case slot_index: return Type::integer();
    default: return Type::dyn();
  }
}

constexpr std::uint32_t start_names = bit(slot_input) | bit(slot_workflow) | bit(slot_config) | bit(slot_now);

}  // namespace

std::uint32_t ScopeNames::item_slot(const std::string& name) {
  const auto found = std::find(items.begin(), items.end(), name);
  const auto at = static_cast<std::uint32_t>(found - items.begin());
  if (found == items.end()) items.push_back(name);
  return slot_first_item + at;
}

Scope Scope::steps(ScopeNames& names) { return {names, start_names | bit(slot_state) | bit(slot_ref)}; }
Scope Scope::reference(ScopeNames& names) { return {names, start_names}; }
Scope Scope::state(ScopeNames& names) { return {names, start_names | bit(slot_ref)}; }
Scope Scope::schedule(ScopeNames& names) { return {names, bit(slot_config) | bit(slot_now)}; }

Scope Scope::derived() const {
  Scope scope = *this;
  scope.plain_.reset();
  scope.with_secrets_.reset();
  return scope;
}

Scope Scope::with_task() const {
  Scope scope = derived();
  scope.fixed_ |= bit(slot_task);
  return scope;
}

Scope Scope::with_completion(const expr::Type& type) const {
  Scope scope = with_task();
  scope.fixed_ |= bit(slot_completion);
  scope.completion_ = type;
  return scope;
}

Scope Scope::with_signal() const {
  Scope scope = derived();
  scope.fixed_ |= bit(slot_signal);
  return scope;
}

Scope Scope::with_error() const {
  Scope scope = derived();
  scope.fixed_ |= bit(slot_error);
  return scope;
}

Scope Scope::without_error() const {
  Scope scope = derived();
  scope.fixed_ &= ~bit(slot_error);
  return scope;
}

Scope Scope::in_loop() const {
  Scope scope = derived();
  scope.fixed_ |= bit(slot_index);
  return scope;
}

Scope Scope::in_loop(std::uint32_t item_slot) const {
  Scope scope = in_loop();
  if (!has(item_slot)) scope.items_.push_back(item_slot);
  return scope;
}

Scope Scope::detached() const {
  Scope scope = derived();
  scope.fixed_ &= ~(bit(slot_task) | bit(slot_completion) | bit(slot_signal) | bit(slot_error));
  return scope;
}

bool Scope::has(std::uint32_t slot) const {
  if (slot < slot_first_item) return (fixed_ & bit(slot)) != 0;
  return std::find(items_.begin(), items_.end(), slot) != items_.end();
}

expr::Environment Scope::build(bool secrets) const {
  expr::Environment environment;
  environment.allow_secret = secrets;
  environment.variables.reserve(slot_first_item + names_->items.size());
  for (std::uint32_t slot = 0; slot < slot_first_item; ++slot) {
    expr::Variable variable{fixed_names[slot].name, fixed_type(slot)};
    if (slot == slot_input) variable.type = names_->input;
    if (slot == slot_state) variable.type = names_->state;
    if (slot == slot_completion) variable.type = completion_;
    if (!has(slot)) variable.unavailable = fixed_names[slot].unavailable;
    environment.variables.push_back(std::move(variable));
  }
  for (std::uint32_t i = 0; i < names_->items.size(); ++i) {
    expr::Variable variable{names_->items[i]};
    if (!has(slot_first_item + i)) {
      variable.unavailable = i == 0 ? "only in the `steps` of a `repeat` with `for_each` and without `as`"
                                    : "only in the `steps` of the `repeat` that names it with `as`";
    }
    environment.variables.push_back(std::move(variable));
  }
  return environment;
}

const expr::Environment& Scope::environment(bool secrets) const {
  std::shared_ptr<const expr::Environment>& held = secrets ? with_secrets_ : plain_;
  if (!held) held = std::make_shared<const expr::Environment>(build(secrets));
  return *held;
}

}  // namespace cairn
