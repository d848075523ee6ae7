// Deployed definitions: the registry of the engine reads them, deploying and retiring write them.
#pragma once

#include <optional>
#include <string>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

enum class PutDefinition { added, same, conflict };  // conflict: this name and version exists with another digest

class DefinitionStore : public virtual StoreBase {
 public:
  // Name, version and digest never change.
  virtual Result<PutDefinition> put_definition(const DefinitionRow& row) = 0;
  // Without a version: the most recently deployed one that is not retired.
  virtual Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                               const std::optional<std::string>& version) = 0;
  virtual Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) = 0;
  virtual Result<bool> retire_definition(const std::string& name, const std::string& version) = 0;
};

}  // namespace cairn
