// URIs as RFC 3986 defines them: splitting, resolving against a base, and the checks behind the formats `uri` and
// `uri-reference`.
#pragma once

#include <string>
#include <string_view>

namespace cairn::schema {

// The parts borrow from the text that was split. A missing part differs from an empty one.
struct UriParts {
  std::string_view scheme, authority, path, query, fragment;
  bool has_scheme = false, has_authority = false, has_query = false, has_fragment = false;
};

UriParts split_uri(std::string_view text);
// Resolves `reference` against `base`, without its fragment and with dot segments removed (RFC 3986, 5.2).
std::string resolve_uri(std::string_view base, std::string_view reference);
// %41 becomes A; invalid escapes stay unchanged.
std::string percent_decoded(std::string_view text);

bool is_uri(std::string_view text);
bool is_uri_reference(std::string_view text);
// RFC 6570.
bool is_uri_template(std::string_view text);

}  // namespace cairn::schema
