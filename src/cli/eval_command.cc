#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/eval_repl.h"
#include "cli/eval_session.h"
#include "cli/eval_vectors.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "time/time_zone.h"

namespace cairn::cli {
namespace {

// A function is listed if its name or library contains one of the words, or if there are no words.
bool is_wanted(const expr::FunctionEntry& entry, const std::vector<std::string>& words) {
  if (words.empty()) return true;
  for (const std::string& word : words) {
    if (entry.name.find(word) != std::string::npos || entry.library == word) return true;
  }
  return false;
}

int print_functions(const std::vector<std::string>& words, bool as_json, std::ostream& out) {
  Json list = Json::array();
  std::vector<std::string> libraries;
  for (const auto& entry : expr::function_catalogue()) {
    if (!is_wanted(entry, words)) continue;
    if (as_json) {
      list.push_back(Json::object({{"name", entry.name},
                                   {"library", entry.library},
                                   {"signature", entry.signature},
                                   {"description", entry.description},
                                   {"example", entry.example},
                                   {"example_result", entry.example_result}}));
    } else if (std::find(libraries.begin(), libraries.end(), entry.library) == libraries.end()) {
      libraries.push_back(entry.library);
    }
  }
  if (as_json) {
    out << write_json_pretty(Json::object({{"functions", list},
                                           {"language_version", expr::language_version},
                                           {"time_zone_database", time_zone_version()}}))
        << "\n";
    return exit_done;
  }
  out << "language version " << expr::language_version << ", time zone database "
      << (time_zone_version().empty() ? "of unknown version" : time_zone_version()) << "\n\n";
  std::sort(libraries.begin(), libraries.end());
  for (const std::string& library : libraries) {
    out << library << "\n";
    for (const auto& entry : expr::function_catalogue()) {
      if (entry.library != library || !is_wanted(entry, words)) continue;
      out << "  " << entry.signature << "\n      " << entry.description << "\n      " << entry.example << "  gives  "
          << entry.example_result << "\n";
    }
    out << "\n";
  }
  return exit_done;
}

}  // namespace

const CommandSpec& eval_spec() {
  static const CommandSpec spec{
      "eval",
      "[EXPR] [--context JSON|@FILE] [--json]",
      "Evaluate an expression, or open a prompt",
      "The members of the context are the names that the expression can use. Without EXPR it opens a prompt on a\n"
      "terminal, and otherwise reads the expression from standard input.\n"
      "Exit codes: 0 done, 1 the evaluation failed, 8 the expression is invalid, 2 usage error.",
      {{"--context", "JSON|@FILE", "a JSON object, or a file with one"},
       {"--json", "", "print one JSON document with value and type, or with the errors"},
       {"--functions", "", "list the functions; EXPR is then part of a name or a library"},
       {"--vectors", "FILE", "conformance vectors: - answers one per line, files are scored"}},
      {"cairn eval '1 + 2 * 3'", "cairn eval 'input.amount > 100' --context '{\"input\": {\"amount\": 250}}'",
       "cairn eval 'items.map(i, i.price).sum()' --context @order.json", "cairn eval --functions strings",
       "cairn eval"}};
  return spec;
}

int run_eval(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(eval_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn eval: " << what << "\n`cairn eval --help` shows examples.\n";
    return exit_usage;
  };
  const auto& positional = arguments.positional();
  const bool as_json = arguments.has("--json");
  if (arguments.has("--functions")) return print_functions(positional, as_json, out);
  if (const auto vectors = arguments.value("--vectors")) {
    if (*vectors == "-") {
      if (!positional.empty()) return wrong_call("--vectors - reads standard input and nothing else");
      return answer_expression_vectors(in, out);
    }
    std::vector<std::string> files = {*vectors};
    files.insert(files.end(), positional.begin(), positional.end());
    return score_expression_vectors(files, in, out, err);
  }
  if (positional.size() > 1) return wrong_call("give one expression, in quotes");
  EvalSession session;
  if (const auto context = arguments.value("--context")) {
    const auto value = read_json_argument(*context, in);
    if (!value) return wrong_call("--context: " + value.error().message);
    if (const auto set = session.set_context(*value); !set) return wrong_call("--context: " + set.error().message);
  }
  if (positional.size() == 1) return session.evaluate(positional[0], as_json, out, err);
  if (&in == &std::cin && isatty(STDIN_FILENO) != 0) return run_eval_prompt(session, out, err);
  const auto text = read_input("-", in, 1u << 20);
  if (!text) return wrong_call(text.error().message);
  return session.evaluate(*text, as_json, out, err);
}

}  // namespace cairn::cli
