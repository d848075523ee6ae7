// The names that expressions may use at one place of a definition (rules S4, S7, S11, S14, S25).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "definition/program.h"
#include "expr/expression.h"

namespace cairn {

// The part that all scopes of one definition share. Loops add their item names during reading.
struct ScopeNames {
  std::vector<std::string> items = {"item"};  // slot_first_item + i
  expr::Type input = expr::Type::dyn();
  expr::Type state = expr::Type::dyn();  // according to `state_schema`

  std::uint32_t item_slot(const std::string& name);  // created if new
};

// Immutable. A lane that adds or hides names has its own scope.
class Scope {
 public:
  // The names of steps: input, state, ref, workflow, config, now.
  static Scope steps(ScopeNames& names);
  static Scope reference(ScopeNames& names);  // at the start: no state, no ref
  static Scope state(ScopeNames& names);      // at the start: no state
  static Scope schedule(ScopeNames& names);   // before an instance exists: config and now

  Scope with_task() const;
  Scope with_completion(const expr::Type& type) const;  // and the task's
  Scope with_signal() const;
  Scope with_error() const;
  Scope without_error() const;
  Scope in_loop() const;                         // `index`
  Scope in_loop(std::uint32_t item_slot) const;  // `index` and the item
  // For steps that run later, from the undo stack. Loop variables stay in scope; names of the enclosing lanes do not.
  Scope detached() const;

  const expr::Environment& environment(bool secrets) const;

 private:
  Scope(ScopeNames& names, std::uint32_t fixed) : names_(&names), fixed_(fixed) {}
  Scope derived() const;
  bool has(std::uint32_t slot) const;
  expr::Environment build(bool secrets) const;

  ScopeNames* names_;
  std::uint32_t fixed_;               // bit per slot below slot_first_item
  std::vector<std::uint32_t> items_;  // item slots in scope
  expr::Type completion_ = expr::Type::dyn();
  // Built on first use. Copies share it, because they have the same names.
  mutable std::shared_ptr<const expr::Environment> plain_;
  mutable std::shared_ptr<const expr::Environment> with_secrets_;
};

}  // namespace cairn
