#include "cli/eval_repl.h"

#include <editline/readline.h>
#include <langinfo.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>

#include "cli/exit_code.h"
#include "cli/input_file.h"

namespace cairn::cli {
namespace {

constexpr int history_max = 1000;

// libedit's completion callback is a plain function, so its data is static.
std::vector<std::string>& completions() {
  static std::vector<std::string> names;
  return names;
}

char* next_completion(const char* prefix, int state) {
  static std::size_t at = 0;
  if (state == 0) at = 0;
  while (at < completions().size()) {
    const std::string& name = completions()[at++];
    if (name.starts_with(prefix)) return strdup(name.c_str());
  }
  return nullptr;
}

void collect_names(const std::string& prefix, const Json& value, int depth, std::set<std::string>& names) {
  if (!value.is_object() || depth > 3) return;
  for (const Json::Member& member : value.members()) {
    const std::string name = prefix.empty() ? member.key.str() : prefix + "." + member.key.str();
    names.insert(name);
    collect_names(name, member.value, depth + 1, names);
  }
}

void refresh_completions(const EvalSession& session) {
  std::set<std::string> names = {":ctx ", ":help", ":names", ":quit", "has(", "true", "false", "null"};
  collect_names("", session.context(), 0, names);
  for (const auto& entry : expr::function_catalogue()) {
    if (!entry.name.starts_with('_') && !entry.name.starts_with('-')) names.insert(entry.name + "(");
  }
  completions().assign(names.begin(), names.end());
}

std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && *state) return std::string(state) + "/cairn_eval_history";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cairn_eval_history" : std::string();
}

void print_help(std::ostream& out) {
  out << "Type an expression and press Enter.\n"
         "  :ctx FILE    read the names from a JSON object; :ctx alone clears them\n"
         "  :names       show the names and the first lines of their values\n"
         "  :help        this text;  cairn eval --functions lists the functions\n"
         "  :quit        quit, like Ctrl-D\n";
}

void load_context(EvalSession& session, const std::string& file, std::ostream& err) {
  if (file.empty()) {
    static_cast<void>(session.set_context(Json::object()));
    return;
  }
  std::istringstream none;
  const auto context = read_json_argument("@" + file, none);
  if (!context) {
    err << context.error().message << "\n";
    return;
  }
  if (const auto set = session.set_context(*context); !set) err << set.error().message << "\n";
}

std::string trimmed(std::string text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

int run_eval_prompt(EvalSession& session, std::ostream& out, std::ostream& err) {
  out << "cairn expressions; :help for help\n" << std::flush;
  // The prompt drops characters that the locale cannot represent, and expressions are UTF-8.
  const char* const locale = std::setlocale(LC_CTYPE, "");
  if (!locale || std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
  using_history();
  stifle_history(history_max);
  const std::string file = history_file();
  if (!file.empty()) read_history(file.c_str());
  rl_completion_entry_function = next_completion;
  static char breaks[] = " \t\n\"'+-*/%<>=!&|?:,()[]{}";
  rl_completer_word_break_characters = breaks;
  rl_completion_append_character = '\0';
  refresh_completions(session);
  for (;;) {
    const std::unique_ptr<char, decltype(&std::free)> read(readline("> "), &std::free);
    if (!read) {
      out << "\n";
      break;
    }
    const std::string line = trimmed(read.get());
    if (line.empty()) continue;
    add_history(line.c_str());
    if (line == ":quit" || line == ":q") break;
    if (line == ":help") {
      print_help(out);
    } else if (line == ":names") {
      for (const Json::Member& member : session.context().members()) {
        out << member.key.view() << " = " << write_json(member.value).substr(0, 70) << "\n";
      }
    } else if (line == ":ctx" || line.starts_with(":ctx ")) {
      load_context(session, trimmed(line.substr(4)), err);
      refresh_completions(session);
    } else if (line.starts_with(':')) {
      err << "unknown command " << line << "; :help lists the commands\n";
    } else {
      session.evaluate(line, false, out, err);
    }
    out << std::flush;
    err << std::flush;
  }
  if (!file.empty()) write_history(file.c_str());
  return exit_done;
}

}  // namespace cairn::cli
