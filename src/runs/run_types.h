// The settings of run types that this node needs in memory: by which key the limits of a type count a run. Leasing
// reads the rows in the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "expr/expression.h"
#include "store/run_type_store.h"

namespace cairn {

class RunTypes {
 public:
  // `store` must outlive it.
  explicit RunTypes(RunTypeStore& store) : store_(store) {}

  // ErrorCode::invalid if the key's expression does not compile.
  Result<void> put(const RunTypeRow& row);
  Result<bool> remove(const std::string& type);
  // The limit key of a run with this payload; empty if its type has none. If the expression fails for a payload, the
  // run counts under a separate key, so that it neither blocks other runs nor escapes the limit.
  Result<std::string> limit_key(const std::string& type, const Json& payload);
  // The same in two steps, for many runs of one type. Returns the compiled key expression; nullptr if the type has
  // none. Returns an error if the rows were never read: a run without its key would escape the limits permanently.
  Result<std::shared_ptr<const expr::Expression>> find(const std::string& type);
  static std::string limit_key(const expr::Expression& counted_by, const Json& payload);

 private:
  struct Key {
    std::string text;
    std::shared_ptr<const expr::Expression> expression;
  };
  Result<void> refresh();

  RunTypeStore& store_;
  std::mutex mutex_;
  std::map<std::string, Key> keys_;
  // Other nodes may change the rows. They are read again if a run arrives and the rows are older than this.
  static constexpr Duration age_max = Duration::of_seconds(5);
  Timestamp read_at_;
  bool read_ = false;
  bool known_ = false;         // the rows were read at least once
  std::uint64_t changes_ = 0;  // changes made by this node: a read that began before a change is outdated
};

}  // namespace cairn
