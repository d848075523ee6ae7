#include "cli/command.h"

#include <algorithm>
#include <map>

#include "api/help_pages.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cli/help_topic.h"

namespace cairn::cli {
namespace {

const Command* find_command(std::string_view name) {
  for (const Command& command : all_commands()) {
    if (command.spec().name == name) return &command;
  }
  return nullptr;
}

void print_commands(std::ostream& out) {
  out << "cairn is a durable workflow engine: processes with people, timers, events and unreliable services.\n"
         "\nUsage: cairn COMMAND [ARGUMENTS]\n";
  std::size_t width = 0;
  for (const Command& command : all_commands()) width = std::max(width, command.spec().name.size());
  std::string_view group;
  for (const Command& command : all_commands()) {
    if (command.group != group) {
      group = command.group;
      out << "\n" << group << ":\n";
    }
    const CommandSpec& spec = command.spec();
    out << "  " << spec.name << std::string(width - spec.name.size() + 2, ' ') << spec.summary << "\n";
  }
  out << "\n`cairn COMMAND --help` shows the arguments of a command, with examples.\n"
         "`cairn help TOPIC` shows a page of the documentation; `cairn help topics` lists them.\n";
}

int no_such_command(const std::string& name, std::ostream& err) {
  std::vector<std::string_view> names;
  for (const Command& known : all_commands()) names.push_back(known.spec().name);
  err << "cairn: unknown command \"" << name << "\"";
  if (const auto near = nearest_name(name, names)) err << "; did you mean `cairn " << *near << "`?";
  err << "\n`cairn --help` lists the commands.\n";
  return exit_usage;
}

// `cairn help`, `cairn help COMMAND` and `cairn help TOPIC`.
int run_help(std::span<const std::string> words, std::ostream& out, std::ostream& err) {
  if (words.empty()) {
    print_commands(out);
    return exit_done;
  }
  const Command* command = words.size() == 1 ? find_command(words[0]) : nullptr;
  if (command) {
    print_help(command->spec(), out);
    return exit_done;
  }
  const HelpLibrary library{api::help_page_names(), api::help_page};
  if (print_help_topic(library, words, out)) return exit_done;
  std::vector<std::string_view> names;
  for (const Command& known : all_commands()) names.push_back(known.spec().name);
  for (const std::string_view name : library.names) names.push_back(name.substr(name.rfind('/') + 1));
  err << "cairn: no command and no page is about \"";
  for (const std::string& word : words) err << (&word == words.data() ? "" : " ") << word;
  err << "\"";
  if (const auto near = nearest_name(words[0], names)) err << "; did you mean `cairn help " << *near << "`?";
  err << "\n`cairn --help` lists the commands, and `cairn help topics` the pages.\n";
  return exit_usage;
}

}  // namespace

int run_cairn(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  if (args.empty()) {
    print_commands(err);
    return exit_usage;
  }
  const std::string& name = args[0];
  if (name == "--help" || name == "-h" || name == "help") {
    return run_help(args.subspan(1), out, err);
  }
  const Command* command = find_command(name == "--version" ? "version" : name);
  if (!command) return no_such_command(name, err);
  return command->run(args.subspan(1), in, out, err);
}

std::optional<int> read_arguments(const CommandSpec& spec, std::span<const std::string> args, Arguments& into,
                                  std::ostream& out, std::ostream& err) {
  auto read = Arguments::read(spec, args);
  if (!read) {
    err << "cairn " << spec.name << ": " << read.error().message << "\n";
    return exit_usage;
  }
  if (read->help()) {
    print_help(spec, out);
    return exit_done;
  }
  if (!read->positional().empty() && !takes_words(spec.usage)) {
    err << "cairn " << spec.name << ": takes flags only, not \"" << read->positional().front() << "\"\nRun `cairn "
        << spec.name << " --help` for the usage.\n";
    return exit_usage;
  }
  into = std::move(*read);
  return std::nullopt;
}

}  // namespace cairn::cli
