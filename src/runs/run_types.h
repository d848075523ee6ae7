// How types of runs are treated, as far as the coordinator must know it: by which key the limits of a type
// count a run. Leasing itself keeps to the rows in the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "expr/expression.h"
#include "store/store.h"

namespace cairn {

class RunTypes {
 public:
  // `store` outlives it.
  explicit RunTypes(Store& store) : store_(store) {}

  // ErrorCode::invalid when the key's expression does not compile.
  Result<void> put(const RunTypeRow& row);
  Result<bool> remove(const std::string& type);
  // The key of a run with this payload; empty when its type has none. A payload for which the expression
  // fails counts under a key of its own, so that one odd run neither blocks nor escapes the others.
  Result<std::string> limit_key(const std::string& type, const Json& payload);
  // The same in two steps, for many runs of one type: what it counts by, nullptr when it has no key.
  // An error when the rows were never read: a run without its key would escape the limits for good.
  Result<std::shared_ptr<const expr::Expression>> find(const std::string& type);
  static std::string limit_key(const expr::Expression& counted_by, const Json& payload);

 private:
  struct Key {
    std::string text;
    std::shared_ptr<const expr::Expression> expression;
  };
  Result<void> refresh();

  Store& store_;
  std::mutex mutex_;
  std::map<std::string, Key> keys_;
  // Another node may have changed the rows: they are read again when a run comes and they are older than this.
  static constexpr Duration age_max = Duration::of_seconds(5);
  Timestamp read_at_;
  bool read_ = false;
  bool known_ = false;         // they were read at least once
  std::uint64_t changes_ = 0;  // by this node: a reading that began before one is old
};

}  // namespace cairn
