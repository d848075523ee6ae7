// The programs of a store, compiled once and shared. Definitions are immutable, so a known program never changes, and
// deploying only adds programs. Safe from several threads.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "definition/program.h"
#include "interpreter/definition_index.h"
#include "store/definition_store.h"

namespace cairn {

class Registry {
 public:
  explicit Registry(DefinitionStore& store) : store_(store) {}

  // Reads and compiles every stored definition. A definition that does not compile is an error in
  // strict mode. Otherwise it is listed in `unavailable` and cannot be started or resumed.
  Result<void> load(bool strict);

  // Stores and adds a program. ErrorCode::conflict if its name and version exist with another digest.
  Result<void> deploy(const std::shared_ptr<const Program>& program);
  Result<bool> retire(const std::string& name, const std::string& version);

  // The program that a new instance runs; without a version the newest. ErrorCode::not_found.
  Result<std::shared_ptr<const Program>> find(const std::string& name, const std::optional<std::string>& version);
  // The program that an instance pins. Reads the store if this node does not know it yet.
  Result<std::shared_ptr<const Program>> pinned(const ProgramKey& key);

  // Another node deployed or retired a definition: the next lookup reads the store first. Does not block.
  void expect_changes() { changed_ = true; }

  // The definitions that `subworkflow` and `continue_with` may name now.
  std::shared_ptr<const DefinitionIndex> index();
  // The same, with everything that this program may start, directly or through others. Reads the store for
  // definitions that this node does not know. Null if the store cannot be read: then nothing may be decided.
  std::shared_ptr<const DefinitionIndex> index_for(const Program& program);
  std::vector<std::string> unavailable() const;
  // What the newest versions of the definitions that use signals of this name say: the longest time to live, absent if
  // one of them sets none. ErrorCode::invalid if no version, newest or older, takes the payload.
  Result<std::optional<Duration>> admit_signal(const std::string& name, const Json& payload);

 private:
  void add(std::shared_ptr<const Program> program, bool retired);
  void catch_up();
  bool has_version_that_takes(const std::string& name, const Json& payload) const;

  DefinitionStore& store_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Program>> programs_;
  std::shared_ptr<const DefinitionIndex> index_ = std::make_shared<DefinitionIndex>();
  std::map<std::pair<std::string, std::string>, bool> retired_;
  std::vector<std::string> unavailable_;
  std::atomic<bool> changed_ = false;
};

}  // namespace cairn
