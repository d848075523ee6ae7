#include "cli/commands.h"

#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

std::string flags_of(const CommandSpec& spec) {
  std::string flags;
  for (const Flag& flag : spec.flags) flags += std::string(flag.name) + " ";
  return flags + "--help";
}

// Quotes text for a shell: 'it'\''s'.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out.push_back(c);
    }
  }
  return out + "'";
}

void print_bash(std::ostream& out) {
  out << "# bash completion for cairn: eval \"$(cairn completion bash)\"\n"
         "_cairn() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" flags=\"\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"";
  for (const Command& command : all_commands()) out << command.spec().name << " ";
  out << "help\" -- \"$word\"))\n    return\n  fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n";
  for (const Command& command : all_commands()) {
    out << "    " << command.spec().name << ") flags=\"" << flags_of(command.spec()) << "\" ;;\n";
  }
  out << "  esac\n"
         "  if [[ \"$word\" == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _cairn cairn\n";
}

void print_zsh(std::ostream& out) {
  out << "#compdef cairn\n# zsh completion for cairn: cairn completion zsh > \"${fpath[1]}/_cairn\"\n"
         "_cairn() {\n  local -a commands flags\n  commands=(\n";
  for (const Command& command : all_commands()) {
    out << "    " << quoted(std::string(command.spec().name) + ":" + std::string(command.spec().summary)) << "\n";
  }
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n  case \"$words[2]\" "
         "in\n";
  for (const Command& command : all_commands()) {
    out << "    " << command.spec().name << ") flags=(" << flags_of(command.spec()) << ") ;;\n";
  }
  out << "  esac\n  if [[ \"$PREFIX\" == -* ]]; then\n    compadd -- $flags\n  else\n    _files\n  fi\n}\n"
         "compdef _cairn cairn\n";
}

void print_fish(std::ostream& out) {
  out << "# fish completion for cairn: cairn completion fish | source\n";
  for (const Command& command : all_commands()) {
    const CommandSpec& spec = command.spec();
    out << "complete -c cairn -n __fish_use_subcommand -f -a " << spec.name << " -d " << quoted(spec.summary) << "\n";
    for (const Flag& flag : spec.flags) {
      out << "complete -c cairn -n '__fish_seen_subcommand_from " << spec.name << "' -l " << flag.name.substr(2)
          << (flag.value.empty() ? "" : " -r") << " -d " << quoted(flag.help) << "\n";
    }
  }
}

}  // namespace

const CommandSpec& completion_spec() {
  static const CommandSpec spec{"completion",
                                "bash|zsh|fish",
                                "Print a completion script for your shell",
                                "",
                                {},
                                {"eval \"$(cairn completion bash)\"", "cairn completion fish | source"}};
  return spec;
}

int run_completion(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(completion_spec(), args, arguments, out, err)) return *over;
  const std::string shell = arguments.positional().size() == 1 ? arguments.positional()[0] : "";
  if (shell == "bash") {
    print_bash(out);
  } else if (shell == "zsh") {
    print_zsh(out);
  } else if (shell == "fish") {
    print_fish(out);
  } else {
    err << "cairn completion: name one shell: bash, zsh or fish\n";
    return exit_usage;
  }
  return exit_done;
}

}  // namespace cairn::cli
