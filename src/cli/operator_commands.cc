// The requests that an operator makes about one instance: cancel, suspend, resume, retry, skip. Each sends
// POST /v1/instances/ID/NAME and prints the instance.
#include "cli/api_session.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

constexpr Flag reason_flag{"--reason", "TEXT", "the reason, for the history and the audit trail"};
constexpr Flag version_flag{"--if-state-version", "N", "fail if the instance has another state version"};

// The body of the request, made from the arguments.
using MakeBody = std::function<Result<Json>(const Arguments&)>;

Result<Json> reason_body(const Arguments& arguments) {
  const auto reason = arguments.value("--reason");
  return reason ? Json::object({{"reason", *reason}}) : Json::object();
}

Result<Json> retry_body(const Arguments& arguments) {
  CAIRN_TRY(Json body, reason_body(arguments));
  if (arguments.has("--new-key")) body.set("new_key", true);
  return body;
}

int send_request(const CommandSpec& spec, std::span<const std::string> args, const MakeBody& make_body,
                 std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(spec, args, arguments, out, err)) return *over;
  auto body = make_body(arguments);
  if (!body) return fail(spec.name, body.error(), err);
  if (arguments.positional().size() != 1) return wrong_call(spec.name, "name one instance", err);
  auto opened = ApiSession::open(spec.name, arguments, ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiRequest request{"POST", "/v1/instances/" + path_part(arguments.positional()[0]) + "/" + std::string(spec.name)};
  request.body = std::move(*body);
  if (const auto version = arguments.value("--if-state-version")) request.headers.emplace_back("if-match", *version);
  const auto answer = std::get<0>(opened)->ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  return print_answer(arguments, std::get<0>(answer).body, out);
}

}  // namespace

const CommandSpec& cancel_spec() {
  static const CommandSpec spec{"cancel",
                                "ID [--reason TEXT] [--json]",
                                "Cancel an instance and its children",
                                "",
                                with_api_flags({reason_flag, version_flag, as_json_flag}),
                                {"cairn cancel 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

const CommandSpec& suspend_spec() {
  static const CommandSpec spec{"suspend",
                                "ID [--reason TEXT] [--json]",
                                "Suspend an instance until it is resumed",
                                "",
                                with_api_flags({reason_flag, version_flag, as_json_flag}),
                                {"cairn suspend 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

const CommandSpec& resume_spec() {
  static const CommandSpec spec{"resume",
                                "ID [--reason TEXT] [--json]",
                                "Resume a suspended instance unchanged",
                                "",
                                with_api_flags({reason_flag, version_flag, as_json_flag}),
                                {"cairn resume 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

const CommandSpec& retry_spec() {
  static const CommandSpec spec{
      "retry",
      "ID [--new-key] [--reason TEXT] [--json]",
      "Retry the failed step of a suspended instance",
      "A call keeps its idempotency key, so that the other side recognizes the repeat. With --new-key it is a new "
      "call.",
      with_api_flags(
          {{"--new-key", "", "give the call a new idempotency key"}, reason_flag, version_flag, as_json_flag}),
      {"cairn retry 0190… --reason 'the bank is back' --server http://127.0.0.1:8400"}};
  return spec;
}

const CommandSpec& skip_spec() {
  static const CommandSpec spec{
      "skip",
      "ID [--result JSON|@FILE] [--reason TEXT] [--json]",
      "Skip the failed step of a suspended instance",
      "",
      with_api_flags({{"--result", "JSON|@FILE", "the result of the skipped step (default null)"},
                      reason_flag,
                      version_flag,
                      as_json_flag}),
      {"cairn skip 0190… --result '{\"score\": 700}' --server http://127.0.0.1:8400"}};
  return spec;
}

int run_cancel(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(cancel_spec(), args, reason_body, out, err);
}

int run_suspend(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(suspend_spec(), args, reason_body, out, err);
}

int run_resume(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(resume_spec(), args, reason_body, out, err);
}

int run_retry(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(retry_spec(), args, retry_body, out, err);
}

int run_skip(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  const MakeBody result_body = [&in](const Arguments& arguments) -> Result<Json> {
    CAIRN_TRY(Json body, reason_body(arguments));
    if (const auto given = arguments.value("--result")) {
      auto result = read_json_argument(*given, in);
      if (!result) return result.error();
      body.set("result", std::move(*result));
    }
    return body;
  };
  return send_request(skip_spec(), args, result_body, out, err);
}

}  // namespace cairn::cli
