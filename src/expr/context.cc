#include <algorithm>

#include <re2/re2.h>

#include "expr/error_held.h"
#include "expr/evaluator.h"
#include "expr/regex.h"

namespace cairn::expr {

namespace {

constexpr std::size_t box_bytes = 32;  // the approximate size of any counted object

std::string too_many_steps(const Budget& budget) {
  return "the evaluation takes more than " + std::to_string(budget.steps_max) +
         " steps (limit: steps of an expression)";
}

std::string too_much_memory(const Budget& budget) {
  return "the evaluation takes more than " + std::to_string(budget.bytes_max) +
         " bytes of memory (limit: memory of an expression)";
}

}  // namespace

bool Context::spend_steps(std::uint64_t count) {
  if (count <= session_->steps_left) {
    session_->steps_left -= count;
    return true;
  }
  session_->steps_left = 0;
  session_->exhausted = true;
  fail("cost_exceeded", too_many_steps(session_->budget));
  return false;
}

bool Context::spend_bytes(std::uint64_t count) {
  if (count <= session_->bytes_left) {
    session_->bytes_left -= count;
    return true;
  }
  session_->bytes_left = 0;
  session_->exhausted = true;
  fail("cost_exceeded", too_much_memory(session_->budget));
  return false;
}

Value Context::text(std::string_view value) {
  if (!spend_bytes(box_bytes + value.size())) return error();
  return Value::text(value);
}
Value Context::bytes(std::string_view value) {
  if (!spend_bytes(box_bytes + value.size())) return error();
  return Value::bytes(value);
}
Value Context::list(Value::List items) {
  if (!spend_bytes(box_bytes + items.size() * sizeof(Value))) return error();
  return Value::list(std::move(items));
}

Value Context::map(Value::Entries entries) {
  if (!spend_bytes(box_bytes + entries.size() * sizeof(Value::Entry))) return error();
  for (const Value::Entry& entry : entries) {
    if (!is_key(entry.key)) {
      return fail("no_such_overload",
                  "a key is a string, int, uint or bool, found " + std::string(describe(entry.key.kind())));
    }
  }
  const auto before = [](const Value::Entry& a, const Value::Entry& b) { return compare_keys(a.key, b.key) < 0; };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    // Sorting compares each entry about log2(n) times.
    std::uint64_t rounds = 1;
    while (entries.size() >> rounds) ++rounds;
    if (!spend_steps(entries.size() * rounds)) return error();
    std::sort(entries.begin(), entries.end(), before);
  }
  const auto same =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const Value::Entry& a, const Value::Entry& b) { return compare_keys(a.key, b.key) == 0; });
  if (same != entries.end()) return fail("invalid_argument", "the map has the same key twice");
  return Value::map(std::move(entries));
}

Value Context::some(Value value) {
  if (!spend_bytes(box_bytes)) return error();
  return Value::some(std::move(value));
}
Value Context::opaque(Value::Kind kind, std::unique_ptr<const Opaque> value) {
  if (!spend_bytes(box_bytes + value->bytes())) return error();
  return Value::opaque(kind, std::move(value));
}

Value Context::fail(std::string_view code, std::string message) {
  if (!failed_) {
    auto held = std::make_unique<Value::ErrorHeld>();
    held->code = code;
    held->message = std::move(message);
    // Errors that && and || absorb are freed, but a loop may create many of them.
    const std::uint64_t bytes = 512 + held->message.size();
    if (!session_->exhausted && session_->bytes_left < bytes) {
      session_->exhausted = true;
      held->code = "cost_exceeded";
      held->message = too_much_memory(session_->budget);
    }
    session_->bytes_left -= std::min(bytes, session_->bytes_left);
    session_->last_error = Value::error(held.release());
    failed_ = true;
  }
  return session_->last_error;
}

Value Context::error() const { return session_->last_error; }

const re2::RE2* Context::regex(std::string_view pattern) {
  for (const auto& known : session_->code->regexes) {
    if (known->pattern == pattern) return known->program.get();
  }
  for (const auto& known : session_->regexes) {
    if (known->pattern == pattern) return known->program.get();
  }
  // Compiling a pattern is expensive, so a loop over many patterns must pay for it.
  if (!spend_steps(1000 + 20 * pattern.size()) || !spend_bytes(4096 + 64 * pattern.size())) return nullptr;
  auto compiled = compile_regex(pattern);
  if (!compiled) {
    fail("invalid_argument", compiled.error());
    return nullptr;
  }
  if (session_->regexes.size() >= 16) session_->regexes.erase(session_->regexes.begin());
  session_->regexes.push_back(std::move(*compiled));
  return session_->regexes.back()->program.get();
}

}  // namespace cairn::expr
