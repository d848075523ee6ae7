// Type variables and their bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/type.h"

namespace cairn::expr {

class Unification {
 public:
  Type fresh();
  // Creates variables for the parameters of a signature: variable n becomes base + n.
  std::uint32_t fresh_many(std::uint32_t count);
  Type shifted(const Type& type, std::uint32_t base) const;

  // Whether a value of type `actual` is allowed where `expected` is required. It binds variables.
  bool fits(const Type& expected, const Type& actual);
  // The type of a place that may hold either; dyn if they have nothing in common.
  Type join(const Type& a, const Type& b);
  Type resolved(const Type& type) const;     // the variable's binding, not deep
  Type substituted(const Type& type) const;  // deep; unbound variables stay
  Type finished(const Type& type) const;     // deep; unbound variables become dyn

  // Trial bindings: `rewind` removes the bindings made since `mark`.
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
