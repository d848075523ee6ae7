// What every client of a store may use, whichever interface it takes: the traits of the back end,
// the clock, the named locks and the queue of dead letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/rows.h"
#include "store/store_traits.h"

namespace cairn {

struct HostLock {
  std::string name;
  std::string owner;
  std::uint64_t fence = 0;
  Timestamp until;
};

class StoreBase {
 public:
  virtual ~StoreBase() = default;

  // Fixed once the first commit was written.
  virtual const StoreTraits& traits() const = 0;

  // The only clock, in whole milliseconds.
  virtual Timestamp now() = 0;

  // A lock with at most one owner at a time. Empty while another owner holds it. The holder extends it with the same
  // call.
  virtual Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                                    Duration length) = 0;
  virtual Result<void> drop_lock(const HostLock& lock) = 0;

  // Stores an item that could not be processed, for an operator.
  virtual Result<std::int64_t> put_dead_letter(const DeadLetter& letter) = 0;
};

}  // namespace cairn
