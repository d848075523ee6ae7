#include "definition/definition.h"

#include "definition/build.h"
#include "definition/draft.h"
#include "definition/source.h"

namespace cairn {
namespace {

std::string too_deep(const Limits& limits) {
  return "the definition nests deeper than " + std::to_string(limits.json_depth_max) +
         " levels; move inner parts into subworkflows";
}

Definition finish(Draft& draft, Json canonical, const std::string& file) {
  // The canonical form is stored and parsed again as JSON. It may nest a little deeper than the source.
  if (draft.findings.errors() == 0 && nests_deeper_than(canonical, draft.limits.json_depth_max)) {
    draft.findings.error({1, 1}, "", too_deep(draft.limits));
  }
  Definition definition;
  if (draft.findings.errors() == 0) {
    draft.program.file = file;
    definition.program = finish_program(draft, canonical);
    definition.digest = definition.program->digest;
    definition.canonical = std::move(canonical);
  }
  definition.diagnostics = draft.findings.take();
  return definition;
}

}  // namespace

Definition load_definition(std::string_view text, const std::string& file, const Limits& limits,
                           std::span<const std::string> transports) {
  Draft draft;
  draft.limits = limits;
  draft.transports = transports;
  std::vector<Diagnostic> found;
  const SourceDocument document = SourceDocument::read(text, limits, found);
  draft.findings.add(std::move(found));
  Json canonical;
  if (document.usable()) {
    draft.document = &document;
    canonical = read_document(draft, document.root());
  }
  return finish(draft, std::move(canonical), file);
}

Definition definition_of(const Json& source, const Limits& limits, std::span<const std::string> transports) {
  Draft draft;
  draft.limits = limits;
  draft.transports = transports;
  Json canonical;
  if (nests_deeper_than(source, limits.json_depth_max)) {
    draft.findings.error({}, "", too_deep(limits));
  } else {
    canonical = read_document(draft, source_of(source));
  }
  return finish(draft, std::move(canonical), "");
}

}  // namespace cairn
