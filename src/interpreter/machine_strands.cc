// Creates and removes strands and their waits.
#include <algorithm>

#include "base/ordered_id.h"
#include "interpreter/machine.h"
#include "interpreter/reference.h"

namespace cairn {

void Machine::begin_instance(const std::optional<Reference>& given, const std::optional<Reference>& inherited) {
  auto strand = std::make_unique<ActiveStrand>();
  strand->id = next_number();
  Json data;
  if (given) data.set("reference", to_json(*given));
  if (inherited) data.set("inherited", to_json(*inherited));
  strand->frames.reserve(4);
  strand->frames.push_back({ActiveFrame::Kind::start, no_index, 0, std::move(data)});
  strands_.push_back(std::move(strand));
  make_ready(main_strand());
}

ActiveStrand* Machine::find_strand(std::uint64_t id) {
  for (const auto& strand : strands_) {
    if (strand->id == id) return strand.get();
  }
  return nullptr;
}

ActiveStrand& Machine::main_strand() { return *strands_.front(); }

bool Machine::strand_fits() const {
  // The main strand does not count, because it only joins the others.
  return strands_.size() <= setting_.limits.strands_max;
}

ActiveStrand& Machine::add_strand(std::uint64_t parent, BlockIndex block) {
  auto strand = std::make_unique<ActiveStrand>();
  strand->id = next_number();
  strand->parent = parent;
  strands_.push_back(std::move(strand));
  ActiveStrand& added = *strands_.back();
  push_block(added, block);
  make_ready(added);
  return added;
}

void Machine::make_ready(ActiveStrand& strand) {
  if (strand.ready) return;
  strand.ready = true;
  agenda_.push_back(strand.id);
}

void Machine::cancel_children(const ActiveStrand& strand) {
  if (strands_.size() == 1) return;
  // A strand is created after its parent, so one pass finds every descendant.
  std::vector<std::uint64_t> doomed;
  for (const auto& other : strands_) {
    if (other->parent == strand.id || std::find(doomed.begin(), doomed.end(), other->parent) != doomed.end()) {
      doomed.push_back(other->id);
    }
  }
  for (auto id = doomed.rbegin(); id != doomed.rend(); ++id) remove_strand(*id);
}

void Machine::cancel_all_but(const std::vector<std::uint64_t>& kept) {
  std::vector<std::uint64_t> doomed;
  for (const auto& strand : strands_) {
    if (std::find(kept.begin(), kept.end(), strand->id) == kept.end()) doomed.push_back(strand->id);
  }
  for (auto id = doomed.rbegin(); id != doomed.rend(); ++id) remove_strand(*id);
}

void Machine::remove_strand(std::uint64_t id) {
  const auto found = std::find_if(strands_.begin(), strands_.end(), [id](const auto& s) { return s->id == id; });
  if (found == strands_.end()) return;
  abandon_waits(**found);
  // The compensations of an ended branch stay registered. They now belong to its parent.
  if (const ActiveStrand* parent = find_strand((*found)->parent)) {
    const std::uint64_t heir = branch_of(*parent);
    for (Compensation& entry : out_.after.compensations) {
      if (entry.branch == id) entry.branch = heir;
    }
  }
  strands_.erase(found);
  scope_.forget();
}

WaitToken Machine::open_wait(ActiveStrand& strand, Wait wait) {
  // Stores fire timers of the same instant in the order of their tokens.
  wait.token.value = ordered_uuid(out_.after.instance.value, "wait", next_number());
  wait.strand = strand.id;
  wait.since = now_;
  WaitToken token = wait.token;
  strand.waits.push_back(token);
  out_.after.waits.push_back(wait);
  out_.waits_opened.push_back(std::move(wait));
  return token;
}

const Wait* Machine::find_wait(const WaitToken& token) const {
  for (const Wait& wait : out_.after.waits) {
    if (wait.token == token) return &wait;
  }
  return nullptr;
}

Wait Machine::take_wait(const WaitToken& token) {
  auto& waits = out_.after.waits;
  const auto found = std::find_if(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.token == token; });
  CAIRN_ASSERT(found != waits.end());
  ActiveStrand* strand = find_strand(found->strand);
  if (strand) note_visit(*strand);
  Wait taken = std::move(*found);
  woken_step_ = taken.step;
  woken_since_ = taken.since;
  waits.erase(found);
  if (strand) std::erase(strand->waits, taken.token);
  const auto opened = std::erase_if(out_.waits_opened, [&](const Wait& wait) { return wait.token == taken.token; });
  if (opened == 0) out_.waits_closed.push_back(taken.token);
  return taken;
}

void Machine::close_timer(const WaitToken& token) {
  if (token.value.empty()) return;
  const auto opened = std::erase_if(out_.waits_opened, [&](const Wait& wait) { return wait.token == token; });
  if (opened == 0) out_.waits_closed.push_back(token);
}

void Machine::abandon_wait(ActiveStrand&, const WaitToken& token, TaskStatus task_status) {
  const Wait wait = take_wait(token);
  switch (wait.kind) {
    case WaitKind::task:
      out_.tasks_closed.push_back({.id = {wait.target}, .status = task_status, .by = actor_, .payload = {}});
      break;
    case WaitKind::run:
      // A run of this commit has not been stored yet, so no cancellation is needed.
      if (std::erase_if(out_.runs, [&](const RunIntent& run) { return run.id.value == wait.target; }) == 0) {
        out_.runs_cancelled.push_back({wait.target});
      }
      break;
    case WaitKind::subworkflow:
      if (std::erase_if(out_.starts, [&](const InstanceStart& start) { return start.id.value == wait.target; }) == 0) {
        out_.children_cancelled.push_back({wait.target});
      }
      break;
    case WaitKind::timer:
    case WaitKind::signal: break;
  }
}

void Machine::abandon_waits(ActiveStrand& strand) {
  while (!strand.waits.empty()) abandon_wait(strand, WaitToken(strand.waits.front()), TaskStatus::cancelled);
}

}  // namespace cairn
