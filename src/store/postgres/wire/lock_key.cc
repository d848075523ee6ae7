#include "store/postgres/wire/lock_key.h"

namespace cairn::postgres {

namespace {

// FNV-1a. A separator that no text contains keeps the parts apart.
std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return (hash ^ 0xff) * 0x100000001b3ULL;
}

}  // namespace

std::int64_t lock_key(std::string_view kind, const std::string& schema, std::string_view name,
                      std::string_view detail) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::string_view part : {std::string_view("cairn"), kind, std::string_view(schema), name, detail}) {
    hash = mix(hash, part);
  }
  return static_cast<std::int64_t>(hash);
}

}  // namespace cairn::postgres
