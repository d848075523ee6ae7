// The names in scope at a place, as values by slot. It borrows everything from the snapshot and the frames. Code that
// changes those must call `forget`.
#pragma once

#include <vector>

#include "base/time.h"
#include "definition/program.h"
#include "expr/expression.h"
#include "instance/snapshot.h"
#include "interpreter/strand.h"

namespace cairn {

class NamesInScope {
 public:
  // The referenced objects must outlive this scope and keep their addresses.
  NamesInScope(const Program& program, const Json& config, const Snapshot& snapshot, const ActiveStrands& strands,
               Timestamp now);

  // Binds the names from the frames of `strand` up to `depth` and from the enclosing strands.
  expr::Bindings bind(const ActiveStrand& strand, std::size_t depth);
  expr::Bindings bind(const ActiveStrand& strand) { return bind(strand, strand.frames.size()); }
  // Binds the names that need no strand.
  expr::Bindings bind_globals();
  // Adds one name for the next evaluation only. Call it after `bind`; `value` is borrowed.
  void add(Slot slot, const Json& value);
  // The next evaluation reads `state` instead of the snapshot's state. Null restores the snapshot's state.
  void read_state(const Json* state);

  void set_now(Timestamp now) {
    now_ = now;
    globals_ = false;
  }
  void forget() { bound_ = nullptr; }
  void forget_reference() { globals_ = false; }

  // The loop variables at the top of `strand` as JSON, which a compensation stores. Null if there are none.
  Json loop_names(const ActiveStrand& strand) const;

 private:
  void make_globals();
  void apply(const ActiveStrand& strand, std::size_t depth);
  void apply_kept(const Json& names);
  const ActiveStrand* find(std::uint64_t id) const;
  std::vector<const ActiveStrand*> around(const ActiveStrand& strand) const;  // the enclosing strands, outermost first

  const Program& program_;
  const Json& config_;
  const Snapshot& snapshot_;
  const ActiveStrands& strands_;
  Timestamp now_;
  std::vector<expr::Value> values_;
  Json reference_;
  Json workflow_;
  const Json* state_ = nullptr;
  const ActiveStrand* bound_ = nullptr;
  std::size_t bound_depth_ = 0;
  bool globals_ = false;
};

}  // namespace cairn
