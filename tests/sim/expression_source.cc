#include "expression_source.h"

namespace cairn::sim {

std::string ExpressionSource::outside_integer(const Names& names) {
  std::vector<std::string> known = {"input.n"};
  if (names.completion) known.emplace_back("completion.n");
  if (names.signal) known.emplace_back("signal.n");
  if (names.error) known.emplace_back("error.attempt");
  if (names.state) {
    const std::string result = "state.r" + std::to_string(dice_.below(3));
    // Mostly asked for first: else few cases would get far.
    known.push_back(dice_.chance(8) ? result + ".n" : "(has(" + result + ") ? " + result + ".n : 4)");
  }
  return dice_.pick(known);
}

std::string ExpressionSource::integer(const Names& names, int depth) {
  const int kind = dice_.below(depth > 0 ? 10 : 6);
  switch (kind) {
    case 0: return std::to_string(dice_.between(0, 9));
    case 1:
    case 2:
    case 3:
      if (names.state) return "state.n" + std::to_string(dice_.below(4));
      return "input.n";
    case 4:
      if (names.index) return "index";
      return std::to_string(dice_.between(0, 3));
    case 5:
      if (!names.items.empty()) return dice_.pick(names.items);
      return dice_.chance(30) ? outside_integer(names) : std::to_string(dice_.between(0, 5));
    case 6: return outside_integer(names);
    case 7: return "(" + integer(names, depth - 1) + " - " + integer(names, depth - 1) + ")";
    case 8: {
      if (dice_.chance(25)) return integer(names, 0) + " / (" + integer(names, 0) + " - 2)";
      return "(" + condition(names, 0) + " ? " + integer(names, depth - 1) + " : " + integer(names, 0) + ")";
    }
    default: return "(" + integer(names, depth - 1) + " + " + integer(names, depth - 1) + ")";
  }
}

std::string ExpressionSource::text(const Names& names) {
  const std::vector<std::string> words = {"\"a\"", "\"b\"", "\"key1\"", "\"\"", "\"ü€\""};
  switch (dice_.below(8)) {
    case 0: return dice_.pick(words);
    case 1:
      if (names.error) return dice_.chance(50) ? "error.code" : "error.class";
      return "input.s";
    case 2:
      if (names.completion) return "completion.s";
      if (names.signal) return "signal.s";
      return "input.s";
    case 3:
      if (names.task) return "task.name";
      return "workflow.name";
    case 4:
      if (names.state) return "state.s0 + " + dice_.pick(words);
      return dice_.pick(words);
    case 5: return "string(" + integer(names, 1) + ")";
    default:
      if (names.state) return "state.s" + std::to_string(dice_.below(2));
      return "input.s";
  }
}

std::string ExpressionSource::condition(const Names& names, int depth) {
  static const std::vector<std::string> relations = {"==", "!=", "<", "<=", ">", ">="};
  switch (dice_.below(depth > 0 ? 10 : 6)) {
    case 0: return text(names) + (dice_.chance(50) ? " == " : " != ") + text(names);
    case 1:
      if (names.completion) return "completion.ok";
      if (names.signal) return "signal.ok";
      if (names.error) return "error.class == \"business\"";
      return "input.ok";
    case 2:
      if (names.state) return "has(state.r" + std::to_string(dice_.below(3)) + ")";
      return "has(input.n)";
    case 6: return "!(" + condition(names, depth - 1) + ")";
    case 7: return "(" + condition(names, depth - 1) + ") && (" + condition(names, depth - 1) + ")";
    case 8: return "(" + condition(names, depth - 1) + ") || (" + condition(names, depth - 1) + ")";
    case 9: return integer(names, 0) + " in [" + integer(names, 0) + ", " + integer(names, 0) + "]";
    default: return integer(names, 1) + " " + dice_.pick(relations) + " " + integer(names, 1);
  }
}

Json ExpressionSource::value(const Names& names) {
  switch (dice_.below(8)) {
    case 0: return Json(dice_.between(0, 99));
    case 1: return Json("text");
    case 2: return of(text(names));
    case 3: return of(condition(names, 1));
    case 4: return Json::object({{"n", of(integer(names, 1))}, {"s", of(text(names))}, {"ok", dice_.chance(50)}});
    case 5: return Json::array({Json(1), of(integer(names, 1)), Json()});
    default: return of(integer(names));
  }
}

}  // namespace cairn::sim
