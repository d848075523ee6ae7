// A base on the first line, a reference after it: the parts make up the text again, and an absolute result is final.
#include "schema/uri.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::schema;
  const std::string_view base = cairn::fuzzing::take_line(input);
  const UriParts parts = split_uri(input);
  std::string again;
  if (parts.has_scheme) again += std::string(parts.scheme) + ":";
  if (parts.has_authority) again += "//" + std::string(parts.authority);
  again += parts.path;
  if (parts.has_query) again += "?" + std::string(parts.query);
  if (parts.has_fragment) again += "#" + std::string(parts.fragment);
  CAIRN_ASSERT(again == input);
  CAIRN_ASSERT(percent_decoded(input).size() <= input.size());

  const std::string target = resolve_uri(base, input);
  CAIRN_ASSERT(target.find('#') == std::string::npos);
  if (!is_uri(base) || !is_uri_reference(input) || !split_uri(base).has_authority) return;
  CAIRN_ASSERT(split_uri(target).has_scheme);
  const std::string_view path = split_uri(target).path;
  if (!parts.path.empty()) CAIRN_ASSERT(path.find("/../") == std::string_view::npos && !path.ends_with("/.."));
  if (!parts.path.empty() && path.find("//") != 0) CAIRN_ASSERT(resolve_uri(base, target) == target);
}
