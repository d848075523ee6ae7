#include "definition/draft.h"

namespace cairn {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

expr::Expression Draft::compile(const Cursor& at, std::size_t begin, const Scope& scope, bool with_secrets) {
  std::string_view text = at.node().scalar.as_string();
  std::size_t end = text.size();
  while (end > begin && is_space(text[end - 1])) --end;
  while (begin < end && is_space(text[begin])) ++begin;
  text = text.substr(begin, end - begin);
  if (text.empty()) {
    error(at, "an expression is missing here");
    expressions_broken = true;
    return {};
  }
  auto compiled = expr::compile(text, scope.environment(with_secrets));
  if (!compiled) {
    expressions_broken = true;
    for (expr::Fault& fault : compiled.error()) {
      const SourcePlace place =
          document != nullptr ? document->place_in(at.node(), begin + fault.offset) : at.node().at;
      findings.error(place, at.pointer(), std::move(fault.message));
    }
    return {};
  }
  for (std::string& name : compiled->functions()) functions.insert(std::move(name));
  for (std::string& name : compiled->secrets()) secrets.insert(std::move(name));
  for (expr::Reference& reference : compiled->references()) {
    program.names_reference |= reference.variable == "ref";
    program.names_workflow |= reference.variable == "workflow";
    if (reference.variable == "state") {
      const SourcePlace place =
          document != nullptr ? document->place_in(at.node(), begin + reference.offset) : at.node().at;
      state_reads.push_back({std::move(reference.path), reference.optional, place, at.pointer()});
    } else if (reference.variable == "config" && !reference.path.empty() && !reference.optional) {
      config.insert(std::move(reference.path.front()));
    }
  }
  return std::move(compiled).value();
}

}  // namespace cairn
