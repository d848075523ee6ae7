#include "definition/keys.h"

namespace cairn {

const Key* KeyTable::find(std::string_view name) const {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace cairn
