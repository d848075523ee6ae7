// Pieces of C++ source for the builder of cairn/definition.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cairn {

// A string literal, raw where that reads better.
std::string cpp_text(std::string_view text);
// An argument of type flow::Value. `outermost`: an object is written in plain braces.
std::string cpp_value(const Json& value, std::size_t indent, bool outermost);
// Of type flow::Condition, flow::Length, flow::Instant, flow::Document.
std::string cpp_condition(const Json& value);
std::string cpp_length(const Json& value);
std::string cpp_instant(const Json& value);
std::string cpp_document(const Json& value);

// An expression with calls chained to it: `head.a(…).b(…)`.
class CppChain {
 public:
  // `indent`: the column at which the chain stands.
  CppChain(std::string head, std::size_t indent) : head_(std::move(head)), indent_(indent) {}
  // The column at which the arguments of its calls stand.
  std::size_t call_indent() const { return indent_ + 4; }
  void call(std::string_view name, std::string_view arguments = "");
  void call_raw(std::string text) { calls_.push_back(std::move(text)); }
  // On one line when it fits, else one call per line.
  std::string text() const;

 private:
  std::string head_;
  std::size_t indent_;
  std::vector<std::string> calls_;
};

// `{a, b}` on one line when it fits, else one item per line at indent + 4.
std::string cpp_braces(const std::vector<std::string>& items, std::size_t indent, bool one_per_line = false);

}  // namespace cairn
