// Any JSON object: written as YAML and read again it is the same. Any other text is read as YAML or refused with a
// place.
#include "definition/yaml_document.h"

#include "base/limits.h"
#include "definition/source.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const auto json = parse_json(input, {.bytes_max = 4096, .depth_max = 20});
  std::string yaml(input);
  if (json && json->is_object()) yaml = write_yaml(YamlNode::of_json(*json));
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(yaml, Limits(), findings);
  for (const Diagnostic& finding : findings) CAIRN_ASSERT(finding.line >= 1 && finding.column >= 1);
  CAIRN_ASSERT(document.usable() || !findings.empty());
  if (json && json->is_object()) CAIRN_ASSERT(document.usable() && document.root().to_json() == *json);
}
