#include "schema/uri.h"

#include "schema/characters.h"

namespace cairn::schema {
namespace {

std::string without_dot_segments(std::string_view path) {
  std::string out;
  const auto drop_last = [&out] {
    const std::size_t slash = out.rfind('/');
    out.resize(slash == std::string::npos ? 0 : slash);
  };
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./")) {
      path.remove_prefix(2);
    } else if (path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../")) {
      path.remove_prefix(3);
      drop_last();
    } else if (path == "/..") {
      path = "/";
      drop_last();
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t end = path.find('/', 1);
      out += path.substr(0, end);
      path = end == std::string_view::npos ? std::string_view() : path.substr(end);
    }
  }
  return out;
}

std::string merged(const UriParts& base, std::string_view path) {
  std::string out;
  if (base.has_authority && base.path.empty()) {
    out += '/';
  } else if (const std::size_t slash = base.path.rfind('/'); slash != std::string_view::npos) {
    out += base.path.substr(0, slash + 1);
  }
  out += path;
  return out;
}

}  // namespace

UriParts split_uri(std::string_view text) {
  UriParts parts;
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    parts.has_fragment = true;
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    parts.has_query = true;
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (const std::size_t end = text.find_first_of(":/"); end != std::string_view::npos && text[end] == ':') {
    parts.has_scheme = true;
    parts.scheme = text.substr(0, end);
    text = text.substr(end + 1);
  }
  if (text.starts_with("//")) {
    parts.has_authority = true;
    const std::size_t end = text.find('/', 2);
    parts.authority = text.substr(2, end == std::string_view::npos ? end : end - 2);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
  parts.path = text;
  return parts;
}

std::string resolve_uri(std::string_view base_text, std::string_view reference_text) {
  const UriParts base = split_uri(base_text);
  const UriParts reference = split_uri(reference_text);
  UriParts target = reference;
  std::string path;
  if (reference.has_scheme || reference.has_authority) {
    path = without_dot_segments(reference.path);
  } else if (reference.path.empty()) {
    path = std::string(base.path);
    if (!reference.has_query) {
      target.has_query = base.has_query;
      target.query = base.query;
    }
  } else if (reference.path.starts_with('/')) {
    path = without_dot_segments(reference.path);
  } else {
    path = without_dot_segments(merged(base, reference.path));
  }
  if (!reference.has_scheme) {
    target.has_scheme = base.has_scheme;
    target.scheme = base.scheme;
    if (!reference.has_authority) {
      target.has_authority = base.has_authority;
      target.authority = base.authority;
    }
  }
  std::string out;
  if (target.has_scheme) (out += target.scheme) += ':';
  if (target.has_authority) (out += "//") += target.authority;
  out += path;
  if (target.has_query) (out += '?') += target.query;
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_percent_escape(text, i)) {
      out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace cairn::schema
