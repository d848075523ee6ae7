#include "cli/commands.h"

#include <algorithm>
#include <fstream>

#include "base/limits.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "schema/schema.h"

namespace cairn::cli {
namespace {

constexpr std::size_t violations_max = 100;

Json json_of(const schema::Violation& violation) {
  return Json::object({{"pointer", violation.pointer}, {"message", violation.message}, {"keyword", violation.keyword}});
}

Json json_of(const schema::SchemaFault& fault) {
  return Json::object({{"pointer", fault.pointer}, {"message", fault.message}});
}

template <class Item>
Json json_list(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(json_of(item));
  return list;
}

// Validates one file against the schema. Text that is not JSON is one violation without a keyword.
std::vector<schema::Violation> check_text(const schema::Schema& schema, const std::string& text) {
  const auto data = parse_json(text);
  if (!data) return {{"", data.error().message, ""}};
  return schema.check(*data, violations_max);
}

// An empty pointer means the whole document and is omitted: "FILE: message".
void print_finding(const std::string& file, const std::string& pointer, const std::string& message, std::ostream& err) {
  err << file << ": ";
  if (!pointer.empty()) err << pointer << ": ";
  err << message << "\n";
}

class DataCheck {
 public:
  DataCheck(std::istream& in, std::ostream& err, bool as_json) : in_(in), err_(err), as_json_(as_json) {}

  // Returns the exit code. `report` becomes the document that --json prints.
  int run(const std::string& schema_file, const std::vector<std::string>& data_files, Json& report) {
    report = Json::object({{"schema", Json::object({{"file", schema_file}, {"faults", Json::array()}})},
                           {"data", Json::array()},
                           {"valid", false}});
    const auto text = read_input(schema_file, in_, Limits().definition_bytes_max);
    if (!text) return unreadable(text.error());
    std::vector<schema::SchemaFault> faults;
    const auto document = parse_json(*text);
    if (!document) {
      faults.push_back({"", document.error().message});
    } else {
      auto schema = schema::Schema::compile(*document);
      if (schema) return check_files(*schema, data_files, report);
      faults = std::move(schema).error();
    }
    report.edit("schema").set("faults", json_list(faults));
    if (!as_json_) {
      for (const auto& fault : faults) print_finding(schema_file, fault.pointer, fault.message, err_);
    }
    return exit_invalid;
  }

 private:
  int check_files(const schema::Schema& schema, const std::vector<std::string>& files, Json& report) {
    bool valid = true;
    for (const std::string& file : files) {
      const auto text = read_input(file, in_, Limits().body_bytes_max);
      if (!text) return unreadable(text.error());
      const auto violations = check_text(schema, *text);
      valid = valid && violations.empty();
      report.edit("data").push_back(
          Json::object({{"file", file}, {"valid", violations.empty()}, {"violations", json_list(violations)}}));
      if (as_json_) continue;
      for (const auto& violation : violations) print_finding(file, violation.pointer, violation.message, err_);
    }
    report.set("valid", valid);
    return valid ? exit_done : exit_invalid;
  }

  int unreadable(const Error& error) {
    err_ << "cairn check-data: " << error.message << "\n";
    return exit_usage;
  }

  std::istream& in_;
  std::ostream& err_;
  bool as_json_;
};

// One line {"id", "kind", "schema", "data"}; the answer is {"id", "valid"} or {"id", "skip": why}.
Json answer_vector(const std::string& line) {
  JsonLimits limits;
  limits.nul_allowed = true;
  const auto vector = parse_json(line, limits);
  if (!vector) return Json::object({{"id", nullptr}, {"skip", vector.error().message}});
  const Json& id = (*vector)["id"];
  const Json* document = vector->find("schema");
  const Json* data = vector->find("data");
  if (!document || !data) return Json::object({{"id", id}, {"skip", "the line lacks `schema` or `data`"}});
  // `format` is only an annotation unless the vector tests its assertion.
  const schema::Options options{.assert_formats = vector->text_or("kind", "") == "format"};
  const auto schema = schema::Schema::compile(*document, options);
  if (!schema) {
    const schema::SchemaFault& fault = schema.error().front();
    return Json::object({{"id", id}, {"skip", fault.pointer + ": " + fault.message}});
  }
  return Json::object({{"id", id}, {"valid", schema->accepts(*data)}});
}

int answer_vectors(std::istream& lines, std::ostream& out) {
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    out << write_json(answer_vector(line)) << "\n";
  }
  return exit_done;
}

}  // namespace

const CommandSpec& check_data_spec() {
  static const CommandSpec spec{
      "check-data",
      "--schema FILE [DATA…] [--json]",
      "Validate JSON files against a JSON Schema",
      "The schema uses draft 2020-12, without remote references. Each DATA is a JSON file, or - for standard input.\n"
      "Without DATA only the schema itself is checked. Violations are printed on standard error as FILE: POINTER:\n"
      "message. Exit codes: 0 valid, 8 the schema or some data is invalid, 2 usage error or unreadable file.",
      {{"--schema", "FILE", "the JSON Schema, or - for standard input"},
       {"--json", "", "print one JSON document on standard output instead"},
       {"--vectors", "FILE", "answer conformance vectors, one JSON object per line; - for standard input"}},
      {"cairn check-data --schema order.schema.json order-1.json order-2.json",
       "curl -s https://api.example.com/orders/1 | cairn check-data --schema order.schema.json -",
       "cairn check-data --schema order.schema.json --json order-1.json",
       "cairn check-data --vectors - < vectors.jsonl"}};
  return spec;
}

int run_check_data(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(check_data_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn check-data: " << what << "\n`cairn check-data --help` shows examples.\n";
    return exit_usage;
  };
  if (const auto vectors = arguments.value("--vectors")) {
    if (arguments.has("--schema") || !arguments.positional().empty()) {
      return wrong_call("--vectors excludes --schema and DATA");
    }
    if (*vectors == "-") return answer_vectors(in, out);
    std::ifstream file(*vectors);
    if (!file) return wrong_call(*vectors + ": cannot be read");
    return answer_vectors(file, out);
  }
  const auto schema_file = arguments.value("--schema");
  if (!schema_file) return wrong_call("--schema FILE is missing");
  const auto inputs =
      static_cast<std::size_t>(*schema_file == "-") +
      static_cast<std::size_t>(std::count(arguments.positional().begin(), arguments.positional().end(), "-"));
  if (inputs > 1) return wrong_call("standard input can only be read once");
  Json report;
  const bool as_json = arguments.has("--json");
  const int code = DataCheck(in, err, as_json).run(*schema_file, arguments.positional(), report);
  if (as_json && code != exit_usage) out << write_json_pretty(report) << "\n";
  return code;
}

}  // namespace cairn::cli
