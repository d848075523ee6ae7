// Any text as a key set: every key found has an algorithm and a fingerprint, and no foreign signature passes.
#include "api/access/jwt.h"
#include "input.h"

void fuzz(std::string_view text) {
  using namespace cairn::api;
  const auto set = KeySet::parse(text);
  if (!set) return;
  CAIRN_ASSERT(set->size() <= KeySet::keys_max);
  for (const char* const algorithm : {"RS256", "ES256", "EdDSA", "HS256", "none"}) {
    const KeySet::Key* const key = set->find("k", algorithm);
    const KeySet::Key* const only = set->find("", algorithm);
    if (std::string_view(algorithm) == "HS256" || std::string_view(algorithm) == "none") CAIRN_ASSERT(!key && !only);
    for (const KeySet::Key* const one : {key, only}) {
      if (one == nullptr) continue;
      CAIRN_ASSERT(KeySet::fingerprint(*one).size() == 64);
      const UnverifiedToken token{"k", algorithm, {}, "header.claims", std::string(64, '\1')};
      CAIRN_ASSERT(!verify_signature(token, *one));
    }
  }
}
