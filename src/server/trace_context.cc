#include "server/trace_context.h"

#include <openssl/rand.h>

#include <algorithm>

#include "base/sha256.h"

namespace cairn::server {
namespace {

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
bool is_id(std::string_view text) { return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos; }

std::string random_id(std::size_t bytes) {
  std::string out(bytes, '\1');
  // Ids of traces are not secrets: without random numbers they only collide.
  static_cast<void>(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(bytes)));
  return to_hex(out);
}

}  // namespace

std::string TraceContext::header() const { return "00-" + trace + "-" + span + (sampled ? "-01" : "-00"); }

TraceContext trace_of(std::string_view text) {
  TraceContext context;
  context.span = random_id(8);
  const bool form = text.size() >= 55 && text[2] == '-' && text[35] == '-' && text[52] == '-' &&
                    is_hex(text.substr(0, 2)) && text.substr(0, 2) != "ff" && is_id(text.substr(3, 32)) &&
                    is_id(text.substr(36, 16)) && is_hex(text.substr(53, 2)) &&
                    (text.size() == 55 || (text.substr(0, 2) != "00" && text[55] == '-'));
  if (!form) {
    context.trace = random_id(16);
    return context;
  }
  context.trace = std::string(text.substr(3, 32));
  context.parent = std::string(text.substr(36, 16));
  context.sampled = (text[54] - (text[54] >= 'a' ? 'a' - 10 : '0')) % 2 == 1;
  return context;
}

}  // namespace cairn::server
