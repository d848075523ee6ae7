// An index of the deployed definitions by name and version, for steps that start other instances.
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
  // Replaces an earlier program of the same name and version.
  void add(std::shared_ptr<const Program> program);
  // The program of exactly this version, or the newest if no version is given; nullptr if none exists.
  std::shared_ptr<const Program> find(const std::string& name, const std::optional<std::string>& version) const;
  // The versions of a name, oldest first; for messages.
  std::vector<std::string> versions(const std::string& name) const;
  std::vector<std::string> names() const;
  // Calls `visit` with the newest program of every name.
  template <class Visit>
  void each_newest(Visit visit) const {
    for (const auto& [name, programs] : by_name_) visit(*programs.back());
  }

 private:
  // The programs of one name, oldest version first.
  std::map<std::string, std::vector<std::shared_ptr<const Program>>> by_name_;
};

// Whether version `a` is older than `b`. Numbers between dots compare by value, a pre-release (1.0.0-rc1) is older than
// its release, and everything else compares by bytes.
bool version_before(const std::string& a, const std::string& b);

}  // namespace cairn
