#include "interpreter/call_keys.h"

#include "base/sha256.h"

namespace cairn {
namespace {

// The frame of the nearest enclosing `try` for which `is` holds, or nullptr. A compensation is taken from the stack
// before it runs, so no `try` around an `undo` makes its calls again.
template <class Is>
ActiveFrame* enclosing_try(const Turn& turn, const Is& is) {
  const Program& program = turn.machine.program();
  for (ActiveStrand* at = &turn.strand; at; at = turn.machine.find_strand(at->parent)) {
    for (auto frame = at->frames.rbegin(); frame != at->frames.rend(); ++frame) {
      if (frame->kind == ActiveFrame::Kind::compensating) return nullptr;
      if (frame->kind != ActiveFrame::Kind::step) continue;
      const StepBody& body = program.steps[frame->index].body;
      if (std::holds_alternative<UndoStep>(body)) return nullptr;
      const auto* attempt = std::get_if<TryStep>(&body);
      if (attempt && is(*frame, *attempt)) return &*frame;
    }
  }
  return nullptr;
}

}  // namespace

std::string call_position(const Turn& turn) {
  std::string key = turn.machine.snapshot().instance.value + "/" + turn.step.path;
  const Program& program = turn.machine.program();
  std::vector<const ActiveStrand*> chain;
  for (const ActiveStrand* at = &turn.strand; at; at = turn.machine.find_strand(at->parent)) chain.push_back(at);
  for (auto strand = chain.rbegin(); strand != chain.rend(); ++strand) {
    for (const ActiveFrame& frame : (*strand)->frames) {
      if (frame.kind != ActiveFrame::Kind::step) continue;
      if (!std::holds_alternative<RepeatStep>(program.steps[frame.index].body)) continue;
      const Json& round = frame.data["index"];
      key += "#" + std::to_string(round.is_integer() ? round.as_integer() : 0);
    }
  }
  return key;
}

std::uint64_t number_in(const Json& data, std::string_view name) {
  const Json& held = data[name];
  return held.is_integer() && held.as_integer() > 0 ? static_cast<std::uint64_t>(held.as_integer()) : 0;
}

std::string digest_for_try(const Turn& turn, const std::string& type, const Json& request) {
  const ActiveFrame* const frame = enclosing_try(turn, [](const ActiveFrame& held, const TryStep& attempt) {
    return attempt.finally_block != no_index && held.data.text_or("phase", "") != "finally";
  });
  return frame != nullptr ? sha256_hex(type + "\n" + write_json(request)) : std::string();
}

std::uint64_t take_kept_visit(const Turn& turn, const std::string& position, const std::string& digest) {
  ActiveFrame* const frame = enclosing_try(turn, [&](const ActiveFrame& held, const TryStep&) {
    return held.data["calls"].is_object() && held.data["calls"].find(position) != nullptr;
  });
  if (frame == nullptr) return 0;
  const Json kept = frame->data["calls"][position];
  frame->data.edit("calls").erase(position);
  return kept.text_or("request", "") == digest ? number_in(kept, "visit") : 0;
}

Json failed_calls(Machine& machine, ActiveStrand& strand) {
  const ActiveFrame& top = strand.top();
  if (top.kind != ActiveFrame::Kind::step) return {};
  const StepBody& body = machine.program().steps[top.index].body;
  // The error has come out of a `finally`.
  if (std::holds_alternative<TryStep>(body)) return top.data["calls"];
  const Json& failed = top.data["failed"];
  if (!std::holds_alternative<CallStep>(body) || failed["request"].is_null()) return {};
  const std::uint64_t earlier = number_in(failed, "key_visit");
  const Turn turn(machine, strand, top.index);
  Json kept = Json::object({{"visit", static_cast<std::int64_t>(earlier > 0 ? earlier : number_in(failed, "visit"))},
                            {"request", failed["request"]}});
  return Json::object({{call_position(turn), std::move(kept)}});
}

}  // namespace cairn
