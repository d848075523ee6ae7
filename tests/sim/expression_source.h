// Random expressions of a small part of the language: integers, text, booleans, lists of them, and fields of the names
// in scope. The part is small, so that a second evaluator is easy to write.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "dice.h"

namespace cairn::sim {

// The names that an expression may use at its place.
struct Names {
  bool state = true;
  bool completion = false;
  bool task = false;
  bool signal = false;
  bool error = false;
  bool index = false;
  std::vector<std::string> items;  // loop items, all integers
};

class ExpressionSource {
 public:
  explicit ExpressionSource(Dice& dice) : dice_(dice) {}

  std::string integer(const Names& names, int depth = 2);
  std::string text(const Names& names);
  std::string condition(const Names& names, int depth = 2);
  // A value position: a literal, an expression, or an object of both.
  Json value(const Names& names);
  // `= expression`, the syntax of a value position.
  static Json of(const std::string& expression) { return Json("= " + expression); }

 private:
  // A field of external data, which may be missing or of another kind.
  std::string outside_integer(const Names& names);

  Dice& dice_;
};

}  // namespace cairn::sim
