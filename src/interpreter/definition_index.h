// Which definitions exist, by name and version, for steps that start other instances.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "definition/program.h"

namespace cairn {

class DefinitionIndex {
 public:
  // Of equal names and versions the last one stays.
  void add(std::shared_ptr<const Program> program);
  // Exactly this version, or without one the newest; nullptr when there is none.
  std::shared_ptr<const Program> find(const std::string& name, const std::optional<std::string>& version) const;
  // Versions in order, oldest first; for messages.
  std::vector<std::string> versions(const std::string& name) const;
  std::vector<std::string> names() const;

 private:
  // The programs of one name, oldest version first.
  std::map<std::string, std::vector<std::shared_ptr<const Program>>> by_name_;
};

// Whether version `a` is older than `b`: numbers between dots by value, a pre-release (1.0.0-rc1) before
// its release, everything else by bytes.
bool version_before(const std::string& a, const std::string& b);

}  // namespace cairn
