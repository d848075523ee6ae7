// The command-line arguments of a command, declared once. Parsing, `--help` and shell completion all use the same
// declaration.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

struct Flag {
  std::string_view name;   // "--input"
  std::string_view value;  // "JSON|@FILE"; empty: a switch without a value
  std::string_view help;
  std::string_view letter = {};  // "-v"
};

struct CommandSpec {
  std::string_view name;     // "run"
  std::string_view usage;    // "FILE [--input JSON|@FILE] …": the text after `cairn run`
  std::string_view summary;  // one line, for the list of commands
  std::string_view details;  // further paragraphs for --help; may be empty
  std::vector<Flag> flags;   // --help is added automatically
  std::vector<std::string_view> examples;
};

// The given arguments, in their order.
class Arguments {
 public:
  struct Given {
    std::string_view flag;  // the declared name
    std::string value;
  };

  // ErrorCode::invalid for an unknown flag (with the closest match), a missing value or an unexpected value. `--flag
  // value` and `--flag=value` are equal, `--` ends the flags, and `-` alone is positional.
  static Result<Arguments> read(const CommandSpec& spec, std::span<const std::string> args);

  bool help() const { return help_; }
  bool has(std::string_view flag) const;
  // The last value given.
  std::optional<std::string> value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;
  const std::vector<Given>& given() const { return given_; }
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::vector<Given> given_;
  std::vector<std::string> positional_;
  bool help_ = false;
};

// Whether the usage contains anything except flags.
bool takes_words(std::string_view usage);

void print_help(const CommandSpec& spec, std::ostream& out);

}  // namespace cairn::cli
