// Type variables and what is known about them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/type.h"

namespace cairn::expr {

class Unification {
 public:
  Type fresh();
  // The parameters of a signature as new variables: variable n becomes base + n.
  std::uint32_t fresh_many(std::uint32_t count);
  Type shifted(const Type& type, std::uint32_t base) const;

  // Whether a value of type `actual` may stand where `expected` is wanted; binds variables.
  bool fits(const Type& expected, const Type& actual);
  // The type of a place where either may stand; dyn when they have nothing in common.
  Type join(const Type& a, const Type& b);
  Type resolved(const Type& type) const;     // the variable's binding, not deep
  Type substituted(const Type& type) const;  // deep; unbound variables stay
  Type finished(const Type& type) const;     // deep; unbound variables become dyn

  // Trying: what was bound since `mark` is forgotten by `rewind`.
  std::size_t mark() const { return trail_.size(); }
  void rewind(std::size_t mark);

 private:
  bool occurs(std::uint32_t variable, const Type& type) const;
  void bind(std::uint32_t variable, const Type& type);
  Type rebuilt(const Type& type, bool finish) const;

  std::vector<std::optional<Type>> bindings_;
  std::vector<std::uint32_t> trail_;
};

}  // namespace cairn::expr
