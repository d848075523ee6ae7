// Writes pieces of C++ source that use the builder of cairn/definition.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cairn {

// A string literal, raw where that is easier to read.
std::string cpp_text(std::string_view text);
// An argument of type flow::Value. `outermost`: an object is written in plain braces.
std::string cpp_value(const Json& value, std::size_t indent, bool outermost);
// Arguments of type flow::Condition, flow::Length, flow::Instant, flow::Document.
std::string cpp_condition(const Json& value);
std::string cpp_length(const Json& value);
std::string cpp_instant(const Json& value);
std::string cpp_document(const Json& value);

// An expression with calls chained to it: `head.a(…).b(…)`.
class CppChain {
 public:
  // `indent` is the column where the chain starts.
  CppChain(std::string head, std::size_t indent) : head_(std::move(head)), indent_(indent) {}
  // The column of the arguments of its calls.
  std::size_t call_indent() const { return indent_ + 4; }
  void call(std::string_view name, std::string_view arguments = "");
  void call_raw(std::string text) { calls_.push_back(std::move(text)); }
  // On one line if it fits, otherwise one call per line.
  std::string text() const;

 private:
  std::string head_;
  std::size_t indent_;
  std::vector<std::string> calls_;
};

// `{a, b}` on one line if it fits, otherwise one item per line at indent + 4.
std::string cpp_braces(const std::vector<std::string>& items, std::size_t indent, bool one_per_line = false);

}  // namespace cairn
