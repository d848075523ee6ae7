// The programs of a store, compiled once and shared. Definitions are immutable, so a program that is
// known never changes; deploying adds one. Safe from several threads.
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
  // strict mode; else it stands in `unavailable` and cannot be started or resumed.
  Result<void> load(bool strict);

  // Stores and adds it. ErrorCode::conflict when that name and version has another digest.
  Result<void> deploy(const std::shared_ptr<const Program>& program);
  Result<bool> retire(const std::string& name, const std::string& version);

  // The program that a new instance runs; without a version the newest. ErrorCode::not_found.
  Result<std::shared_ptr<const Program>> find(const std::string& name, const std::optional<std::string>& version);
  // The program that an instance pins. Looks into the store when another process deployed it since.
  Result<std::shared_ptr<const Program>> pinned(const ProgramKey& key);

  // Another node deployed or retired something: to be read before the next answer. Does not block.
  void expect_changes() { changed_ = true; }

  // What `subworkflow` and `continue_with` may name at this moment.
  std::shared_ptr<const DefinitionIndex> index();
  // The same for this program, and for what that may start in turn: asked of the store where this node does not know
  // it.
  std::shared_ptr<const DefinitionIndex> index_for(const Program& program);
  std::vector<std::string> unavailable() const;

 private:
  void add(std::shared_ptr<const Program> program, bool retired);
  void catch_up();

  DefinitionStore& store_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Program>> programs_;
  std::shared_ptr<const DefinitionIndex> index_ = std::make_shared<DefinitionIndex>();
  std::map<std::pair<std::string, std::string>, bool> retired_;
  std::vector<std::string> unavailable_;
  std::atomic<bool> changed_ = false;
};

}  // namespace cairn
