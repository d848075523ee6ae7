// The names in scope at a place, as values by slot. Borrows everything from the snapshot and the
// frames; whoever changes those says so with `forget`.
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
  // The referenced objects outlive the scope and keep their addresses.
  NamesInScope(const Program& program, const Json& config, const Snapshot& snapshot, const ActiveStrands& strands,
               Timestamp now);

  // What the frames of `strand` up to `depth`, and of the strands around it, bring into scope.
  expr::Bindings bind(const ActiveStrand& strand, std::size_t depth);
  expr::Bindings bind(const ActiveStrand& strand) { return bind(strand, strand.frames.size()); }
  // The names that no strand is needed for.
  expr::Bindings bind_globals();
  // One name more for the next evaluation only. After `bind`; `value` is borrowed.
  void add(Slot slot, const Json& value);
  // The next evaluation sees `state` instead of the snapshot's. Null: the snapshot's again.
  void read_state(const Json* state);

  void set_now(Timestamp now) {
    now_ = now;
    globals_ = false;
  }
  void forget() { bound_ = nullptr; }
  void forget_reference() { globals_ = false; }

  // The loop names at the top of `strand` as JSON: what a compensation keeps. Null when there are none.
  Json loop_names(const ActiveStrand& strand) const;

 private:
  void make_globals();
  void apply(const ActiveStrand& strand, std::size_t depth);
  void apply_kept(const Json& names);
  const ActiveStrand* find(std::uint64_t id) const;
  std::vector<const ActiveStrand*> around(const ActiveStrand& strand) const;  // outermost first, without itself

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
