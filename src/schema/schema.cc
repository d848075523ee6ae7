#include "schema/schema.h"

#include "schema/compiler.h"
#include "schema/evaluation.h"

namespace cairn::schema {

Result<Schema, std::vector<SchemaFault>> Schema::compile(const Json& document, const Options& options) {
  CAIRN_TRY(std::shared_ptr<const Compiled> compiled, Compiler(document, options).run());
  return Schema(std::move(compiled));
}

std::vector<Violation> Schema::check(const Json& data, std::size_t violations_max) const {
  Evaluation verdict(*compiled_, nullptr);
  if (verdict.run(data)) return {};
  // A second pass for the messages would only exceed the same bound again.
  if (!verdict.gave_up().empty()) return {{"", std::string(verdict.gave_up()), ""}};
  Report report{violations_max == 0 ? 1 : violations_max, {}};
  Evaluation evaluation(*compiled_, &report);
  evaluation.run(data);
  if (!evaluation.gave_up().empty() || report.found.empty()) {
    const std::string_view reason = evaluation.gave_up();
    return {{"", std::string(reason.empty() ? "does not fit the schema" : reason), ""}};
  }
  return std::move(report.found);
}

bool Schema::accepts(const Json& data) const { return Evaluation(*compiled_, nullptr).run(data); }

const Json& Schema::document() const { return compiled_->document; }

std::string listed(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    if (!text.empty()) text += "; ";
    text += (violation.pointer.empty() ? "/" : violation.pointer) + ": " + violation.message;
  }
  return text;
}

}  // namespace cairn::schema
