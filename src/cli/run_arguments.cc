#include "cli/run_arguments.h"

#include <algorithm>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/settings_file.h"

namespace cairn::cli {
namespace {

// An invalid flag: the exit code and the message.
struct Refusal {
  int code = exit_usage;
  std::string message;
};

// Text that no store could hold is refused as invalid data; what is no JSON at all is a wrong call (rules R11, R14).
int code_of(const Error& error) {
  if (error.code == ErrorCode::limit) return exit_invalid;
  return error.message.find("is not allowed in text") != std::string::npos ? exit_invalid : exit_usage;
}

class Reader {
 public:
  Reader(const Limits& limits, std::istream& in)
      : json_limits_{.bytes_max = limits.body_bytes_max, .depth_max = limits.json_depth_max}, in_(in) {}

  Result<Json, Refusal> json(std::string_view flag, const std::string& given, const std::string& text) {
    auto value = read_json_argument(text, in_, json_limits_);
    if (value) return std::move(*value);
    return Refusal{code_of(value.error()), std::string(flag) + " " + given + ": " + value.error().message};
  }

  std::optional<Refusal> answer(const std::string& given, RunArguments& into) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) return lacks_equals("--answer", given, "TASK[@USER]=JSON");
    const std::string who = given.substr(0, equals);
    const std::size_t at = who.find('@');
    RunArguments::Answer answer{.given = given, .task = who.substr(0, at), .user = "cli", .payload = {}, .used = false};
    if (at != std::string::npos) answer.user = who.substr(at + 1);
    if (answer.task.empty() || answer.user.empty()) return lacks_equals("--answer", given, "TASK[@USER]=JSON");
    auto payload = json("--answer", given, given.substr(equals + 1));
    if (!payload) return payload.error();
    answer.payload = std::move(*payload);
    into.answers.push_back(std::move(answer));
    return std::nullopt;
  }

  std::optional<Refusal> signal(const std::string& given, RunArguments& into) {
    // The name ends at the first colon, the key at the first `=` after it.
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) return lacks_equals("--signal", given, "NAME[:KEY]=JSON");
    const std::string address = given.substr(0, equals);
    const std::size_t colon = address.find(':');
    RunArguments::Signal signal{.given = given, .name = address.substr(0, colon), .key = {}, .payload = {}};
    if (colon != std::string::npos) signal.key = address.substr(colon + 1);
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
             c == '-';
    };
    if (signal.name.empty() || !std::all_of(signal.name.begin(), signal.name.end(), fits)) {
      return Refusal{exit_usage,
                     "--signal " + given + ": a signal's name is made of letters, digits, `_`, `.` and `-`"};
    }
    auto payload = json("--signal", given, given.substr(equals + 1));
    if (!payload) return payload.error();
    signal.payload = std::move(*payload);
    into.signals.push_back(std::move(signal));
    return std::nullopt;
  }

  std::optional<Refusal> reply(const std::string& given, RunArguments& into) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      return lacks_equals("--reply", given, "TYPE=JSON or --reply TYPE=!CODE");
    CallReply reply;
    reply.target = given.substr(0, equals);
    const std::string text = given.substr(equals + 1);
    if (text.starts_with('!')) {
      if (text.size() == 1) return Refusal{exit_usage, "--reply " + given + ": a code must follow the `!`"};
      Failure failure;
      failure.failure_class = FailureClass::transport;
      failure.code = text.substr(1);
      failure.message = "the call to " + reply.target + " failed with " + failure.code;
      reply.failure = std::move(failure);
    } else {
      auto result = json("--reply", given, text);
      if (!result) return result.error();
      reply.result = std::move(*result);
    }
    into.replies.push_back(std::move(reply));
    return std::nullopt;
  }

 private:
  static Refusal lacks_equals(const std::string& flag, const std::string& given, const std::string& form) {
    return {exit_usage, flag + " " + given + ": write it as " + flag + " " + form};
  }

  JsonLimits json_limits_;
  std::istream& in_;
};

std::optional<Refusal> read_flags(const Arguments& arguments, const Limits& limits, RunArguments& into,
                                  std::istream& in) {
  Reader reader(limits, in);
  for (const Arguments::Given& given : arguments.given()) {
    std::optional<Refusal> refusal;
    if (given.flag == "--input") {
      auto input = reader.json("--input", given.value.substr(0, 60), given.value);
      if (!input) return input.error();
      into.input = std::move(*input);
    } else if (given.flag == "--answer") {
      refusal = reader.answer(given.value, into);
    } else if (given.flag == "--signal") {
      refusal = reader.signal(given.value, into);
    } else if (given.flag == "--reply") {
      refusal = reader.reply(given.value, into);
    } else if (given.flag == "--with") {
      into.with.push_back(given.value);
    } else if (given.flag == "--config") {
      auto config = read_settings(given.value, in, limits);
      if (!config) return Refusal{code_of(config.error()), "--config " + config.error().message};
      into.config = std::move(*config);
    } else if (given.flag == "--skip-time") {
      into.skip_time = true;
    } else if (given.flag == "--verbose") {
      into.verbose = true;
    }
    if (refusal) return refusal;
  }
  return std::nullopt;
}

}  // namespace

const CommandSpec& run_spec() {
  static const CommandSpec spec{
      "run",
      "FILE [--input JSON|@FILE] [--answer TASK[@USER]=JSON]… [--signal NAME[:KEY]=JSON]… [--reply TYPE=JSON]…\n"
      "    [--with FILE|DIR]… [--config FILE] [--skip-time] [-v]",
      "Run one instance in memory and print its output or what it waits for",
      "It stores nothing, never sleeps and uses no network. Standard output is one JSON document: the output if\n"
      "the instance completes; {status, waits, state} if it waits; {status, error, state} if it failed, was\n"
      "suspended or was cancelled. Everything else is printed on standard error.\n"
      "Exit codes: 0 completed, 5 not completed, 2 usage error, 8 invalid definition or input.",
      {{"--input", "JSON|@FILE", "the start payload (default {})"},
       {"--answer", "TASK[@USER]=JSON", "complete the task with this name once; answers are used in order"},
       {"--signal", "NAME[:KEY]=JSON", "send a signal after the start; it is buffered until a wait takes it"},
       {"--reply", "TYPE=JSON",
        "answer a call of this worker type (for http and graphql: of this step);\n"
        "TYPE=!CODE makes it fail"},
       {"--with", "FILE|DIR", "further definitions, for subworkflow and continue_with"},
       {"--config", "FILE", "the value of `config` in expressions: YAML or JSON"},
       {"--skip-time", "", "if nothing else can happen, jump to the next timer; at most 10000 times"},
       {"--verbose", "", "print whole events", "-v"},
       {"--json", "", "accepted for consistency: the output is always JSON"}},
      {"cairn run hello.yaml", "cairn run loan.yaml --input '{\"applicationNo\": \"A-1\", \"amount\": 5000}' \\",
       "    --reply score='{\"value\": 640}' --answer 'ReviewApplication@ann={\"decision\": \"approved\"}'",
       "cairn run order.yaml --signal 'paid:A-1={\"amount\": 12}' --skip-time"}};
  return spec;
}

std::optional<int> read_run_arguments(std::span<const std::string> args, const Limits& limits, RunArguments& into,
                                      std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(run_spec(), args, arguments, out, err)) return over;
  if (arguments.positional().size() != 1) {
    err << "cairn run: name exactly one definition file\n`cairn run --help` shows examples.\n";
    return exit_usage;
  }
  into.file = arguments.positional().front();
  if (const auto refusal = read_flags(arguments, limits, into, in)) {
    err << "cairn run: " << refusal->message << "\n";
    return refusal->code;
  }
  return std::nullopt;
}

}  // namespace cairn::cli
