#include "interpreter/names_in_scope.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn {
namespace {

constexpr std::array<std::pair<std::string_view, Slot>, 4> lane_names{
    {{"completion", slot_completion}, {"error", slot_error}, {"signal", slot_signal}, {"task", slot_task}}};

}  // namespace

NamesInScope::NamesInScope(const Program& program, const Json& config, const Snapshot& snapshot,
                           const ActiveStrands& strands, Timestamp now)
    : program_(program), config_(config), snapshot_(snapshot), strands_(strands), now_(now) {}

const ActiveStrand* NamesInScope::find(std::uint64_t id) const {
  for (const auto& strand : strands_) {
    if (strand->id == id) return strand.get();
  }
  return nullptr;
}

std::vector<const ActiveStrand*> NamesInScope::around(const ActiveStrand& strand) const {
  std::vector<const ActiveStrand*> chain;
  // A chain cannot be longer than the number of strands. The check protects against a stored snapshot with a cycle.
  for (const ActiveStrand* outer = find(strand.parent); outer && chain.size() < strands_.size();
       outer = find(outer->parent)) {
    chain.push_back(outer);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void NamesInScope::make_globals() {
  if (values_.empty()) values_.resize(program_.slots());
  // Values that no expression of the program reads are not built.
  if (program_.names_reference) {
    reference_ = Json::object({{"key", snapshot_.reference.key}, {"parts", snapshot_.reference.parts}});
  }
  if (program_.names_workflow && workflow_.is_null()) {
    workflow_ = Json::object({{"instance_id", snapshot_.instance.value},
                              {"name", snapshot_.program.name},
                              {"version", snapshot_.program.version}});
  }
  values_[slot_input] = expr::Value::borrow(snapshot_.input);
  values_[slot_ref] = expr::Value::borrow(reference_);
  values_[slot_workflow] = expr::Value::borrow(workflow_);
  values_[slot_config] = expr::Value::borrow(config_);
  values_[slot_now] = expr::Value::timestamp(now_);
  globals_ = true;
}

expr::Bindings NamesInScope::bind_globals() {
  if (!globals_) make_globals();
  values_[slot_state] = expr::Value::borrow(state_ ? *state_ : snapshot_.state);
  return values_;
}

expr::Bindings NamesInScope::bind(const ActiveStrand& strand, std::size_t depth) {
  bind_globals();
  if (bound_ == &strand && bound_depth_ == depth) return values_;
  if (strand.parent != 0) {
    for (const ActiveStrand* outer : around(strand)) apply(*outer, outer->frames.size());
  }
  apply(strand, depth);
  bound_ = &strand;
  bound_depth_ = depth;
  return values_;
}

void NamesInScope::apply(const ActiveStrand& strand, std::size_t depth) {
  for (std::size_t i = 0; i < depth && i < strand.frames.size(); ++i) {
    const ActiveFrame& frame = strand.frames[i];
    if (frame.kind == ActiveFrame::Kind::compensating) apply_kept(frame.data["scope"]);
    if (frame.kind != ActiveFrame::Kind::step || !frame.data.is_object()) continue;
    const StepBody& body = program_.steps[frame.index].body;
    if (const auto* repeat = std::get_if<RepeatStep>(&body)) {
      const Json& round = frame.data["index"];
      const std::int64_t index = round.is_integer() ? round.as_integer() : 0;
      values_[slot_index] = expr::Value::integer(index);
      const Json& items = frame.data["items"];
      if (repeat->item_slot < values_.size() && items.is_array() && index >= 0 &&
          static_cast<std::size_t>(index) < items.size()) {
        values_[repeat->item_slot] = expr::Value::borrow(items.items()[static_cast<std::size_t>(index)]);
      }
    } else if (std::holds_alternative<UndoStep>(body)) {
      apply_kept(frame.data["scope"]);
    } else {
      for (const auto& [name, slot] : lane_names) {
        if (const Json* value = frame.data.find(name)) values_[slot] = expr::Value::borrow(*value);
      }
    }
  }
}

void NamesInScope::apply_kept(const Json& names) {
  if (!names.is_object()) return;
  for (const Json::Member& member : names.members()) {
    const std::string_view name = member.key;
    if (name == "index") {
      values_[slot_index] = expr::Value::borrow(member.value);
      continue;
    }
    for (std::size_t i = 0; i < program_.item_names.size(); ++i) {
      if (name == program_.item_names[i]) values_[slot_first_item + i] = expr::Value::borrow(member.value);
    }
  }
}

void NamesInScope::add(Slot slot, const Json& value) {
  values_[slot] = expr::Value::borrow(value);
  bound_ = nullptr;
}

void NamesInScope::read_state(const Json* state) { state_ = state; }

Json NamesInScope::loop_names(const ActiveStrand& strand) const {
  Json names;
  const auto collect = [&](const ActiveStrand& from) {
    for (const ActiveFrame& frame : from.frames) {
      if (!frame.data.is_object()) continue;
      if (const Json* kept = frame.data.find("scope"); kept && kept->is_object()) {
        for (const Json::Member& member : kept->members()) names.set(member.key, member.value);
      }
      if (frame.kind != ActiveFrame::Kind::step) continue;
      if (const auto* repeat = std::get_if<RepeatStep>(&program_.steps[frame.index].body)) {
        const Json& round = frame.data["index"];
        names.set("index", round);
        const Json& items = frame.data["items"];
        if (!repeat->item_name.empty() && items.is_array() && round.is_integer() && round.as_integer() >= 0 &&
            static_cast<std::size_t>(round.as_integer()) < items.size()) {
          names.set(repeat->item_name, items.items()[static_cast<std::size_t>(round.as_integer())]);
        }
      }
    }
  };
  for (const ActiveStrand* outer : around(strand)) collect(*outer);
  collect(strand);
  return names;
}

}  // namespace cairn
