#include "cli/commands.h"

#include <fstream>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/listing.h"
#include "cli/store_session.h"
#include "store/audit_chain.h"

namespace cairn::cli {
namespace {

constexpr std::size_t key_bytes_max = 64u << 10;

// Passes each row of the trail to `take` until it returns false. Empty on success.
using EachRow = std::function<std::optional<int>(const std::function<bool(const Json&)>& take)>;

std::optional<int> each_in_file(const std::string& path, std::istream& in, std::ostream& err,
                                const std::function<bool(const Json&)>& take) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return fail("audit", {ErrorCode::not_found, path + " cannot be read"}, err);
  }
  std::istream& lines = path == "-" ? in : file;
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto row = parse_json(line);
    if (!row) return fail("audit", with_context(row.error(), path + " line " + std::to_string(number)), err);
    if (!take(*row)) return std::nullopt;
  }
  if (lines.bad()) return fail("audit", {ErrorCode::unavailable, path + " cannot be read to its end"}, err);
  return std::nullopt;
}

Json report_document(const AuditReport& report, bool with_key) {
  Json answer = Json::object({{"rows", report.rows},
                              {"first_row", report.first_row},
                              {"last_hash", report.last_hash},
                              {"intact", !report.broken_at.has_value()}});
  if (report.broken_at) {
    answer.set("broken_at", *report.broken_at);
    answer.set("why", report.why);
  }
  if (with_key) {
    answer.set("checkpoints", report.checkpoints);
    answer.set("signed_rows", report.signed_rows);
    if (report.last_checkpoint) answer.set("last_checkpoint", format_timestamp(*report.last_checkpoint));
  }
  return answer;
}

int print_report(const Json& report, bool json, std::ostream& out) {
  const bool intact = report["intact"].is_bool() && report["intact"].as_bool();
  if (json) {
    out << write_json(report) << "\n";
  } else if (intact) {
    const Json& first = report["first_row"];
    const bool is_part = first.is_integer() && first.as_integer() > 1;
    out << "the audit trail is intact" << (is_part ? " from row " + write_json(first) : std::string()) << ": "
        << write_json(report["rows"]) << " rows, last hash " << report.text_or("last_hash", "") << "\n";
    if (report["checkpoints"].is_integer()) {
      out << write_json(report["checkpoints"]) << " checkpoints are signed by the key; the last one is from "
          << report.text_or("last_checkpoint", "") << " and covers " << write_json(report["signed_rows"]) << " rows\n";
    }
  } else {
    out << "row " << write_json(report["broken_at"]) << ": " << report.text_or("why", "") << "\n";
  }
  return intact ? exit_done : exit_failed;
}

// Verifies the rows locally, with a key that the server need not know.
int verify_rows(const Arguments& arguments, const EachRow& each, std::istream& in, std::ostream& out,
                std::ostream& err) {
  std::optional<Ed25519PublicKey> key;
  if (const auto path = arguments.value("--key")) {
    const auto pem = read_input(std::string(*path), in, key_bytes_max);
    if (!pem) return fail("audit", pem.error(), err);
    auto read = Ed25519PublicKey::from_pem(*pem);
    if (!read) return fail("audit", with_context(read.error(), std::string(*path)), err);
    key = std::move(*read);
  }
  const bool with_key = key.has_value();
  AuditCheck check(std::string(arguments.value("--hash").value_or("")), std::move(key));
  std::optional<Error> unreadable;
  const auto failed = each([&](const Json& document) {
    if (const Json* given = document.find("export")) {
      const auto seal = seal_from(*given);
      if (!seal) unreadable = seal.error();
      return seal && check.add(*seal);
    }
    const auto row = audit_row_from(document);
    if (!row) unreadable = row.error();
    return row && check.add(*row);
  });
  if (failed) return *failed;
  if (unreadable) return fail("audit", *unreadable, err);
  return print_report(report_document(check.finish(), with_key), arguments.has("--json"), out);
}

Listing trail(const Arguments& arguments) {
  Listing listing;
  listing.request = {"GET", "/v1/audit"};
  for (const char* const name : {"who", "what", "resource", "from", "to"}) {
    if (const auto value = arguments.value("--" + std::string(name))) listing.request.query.emplace_back(name, *value);
  }
  listing.columns = {"AT", "WHO", "WHAT", "RESOURCE", "WHY"};
  listing.row = [](const Json& row) -> std::vector<std::string> {
    return {cell(row, "at"), cell(row, "who"), cell(row, "what"), cell(row, "resource"), cell(row, "why")};
  };
  return listing;
}

}  // namespace

const CommandSpec& audit_spec() {
  static const CommandSpec spec{
      "audit",
      "list [--who USER] [--what OPERATION] [--resource TEXT] [--from TIME] [--to TIME] | export | verify [--key FILE] "
      "[--hash HASH] [--file FILE]",
      "Show, export or verify the audit trail",
      "The hash of each row covers the previous row. `verify` names the first row that does not match and prints\n"
      "the last hash. Keep that hash elsewhere: with --hash, a later `verify` detects a truncated trail. With\n"
      "--key it also checks the signatures of the checkpoints (setting audit.signing_key). `export` prints one\n"
      "JSON document per row; --file verifies such an export, and the files that retention writes to\n"
      "audit.export_folder. Several of them are one trail: cat audit-*.jsonl | cairn audit verify --file -.\n"
      "Exit code 1: the trail is broken.",
      with_list_flags({{"--who", "USER", "list: only of this person or account"},
                       {"--what", "OPERATION", "list: only this operation, such as cancelInstance"},
                       {"--resource", "TEXT", "list: only resources that contain this text, such as an id"},
                       {"--from", "TIME", "list: at or after"},
                       {"--to", "TIME", "list: before"},
                       {"--hash", "HASH", "verify: a hash that the trail must contain"},
                       {"--key", "FILE", "verify: PEM file of the Ed25519 public key that signs checkpoints"},
                       {"--file", "FILE", "verify: an export instead of a store or server; - for standard input"}}),
      {"cairn audit list --store sqlite:cairn.db --who ada --from 2026-01-01",
       "cairn audit export --server http://localhost:8400 > audit.jsonl",
       "cairn audit verify --key audit-public.pem --file audit.jsonl"}};
  return spec;
}

int run_audit(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(audit_spec(), args, arguments, out, err)) return *over;
  const std::string verb = arguments.positional().size() == 1 ? arguments.positional()[0] : "";
  if (verb != "list" && verb != "export" && verb != "verify") {
    return wrong_call("audit", "use list, export or verify", err);
  }
  if (const auto file = arguments.value("--file"); file && verb == "verify") {
    const auto each = [&](const std::function<bool(const Json&)>& take) {
      return each_in_file(std::string(*file), in, err, take);
    };
    return verify_rows(arguments, each, in, out, err);
  }
  auto opened = ApiSession::open("audit", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& session = *std::get<0>(opened);
  if (verb == "list") return print_listing(session, trail(arguments), arguments, out, err);
  const auto each = [&](const std::function<bool(const Json&)>& take) {
    return session.each({"GET", "/v1/audit"}, SIZE_MAX, take, err);
  };
  if (verb == "export") {
    const auto print = [&](const Json& row) {
      out << write_json(row) << "\n";
      return static_cast<bool>(out);
    };
    const auto failed = each(print);
    return failed ? *failed : exit_done;
  }
  if (arguments.value("--key")) return verify_rows(arguments, each, in, out, err);
  ApiRequest request{"GET", "/v1/audit/verify"};
  if (const auto hash = arguments.value("--hash")) request.query.emplace_back("hash", *hash);
  auto answer = session.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  return print_report(std::get<ApiAnswer>(answer).body, arguments.has("--json"), out);
}

}  // namespace cairn::cli
