#include "interpreter/strand.h"

#include <array>

namespace cairn {
namespace {

constexpr std::array<const char*, std::variant_size_v<StepBody>> step_types{
    "set",  "reference", "task",        "call",          "if",   "switch", "repeat", "parallel", "first",
    "wait", "signal",    "subworkflow", "continue_with", "emit", "try",    "undo",   "fail",     "complete"};

Error corrupt(const Strand& strand, const Frame& frame, const std::string& what) {
  return {ErrorCode::corrupt,
          "strand " + std::to_string(strand.id) + ", frame " + frame.kind + " " + frame.place + ": " + what};
}

// Whether `frame` may follow `below` on the stack.
bool fits(const Program& program, const ActiveFrame* below, const ActiveFrame& frame) {
  using Kind = ActiveFrame::Kind;
  if (!below) return frame.kind != Kind::step;
  switch (frame.kind) {
    case Kind::start:
    case Kind::compensating: return false;
    case Kind::step: {
      if (below->kind != Kind::block) return false;
      const Block& block = program.blocks[below->index];
      return below->position < block.steps.size() && block.steps[below->position] == frame.index;
    }
    case Kind::block: {
      const StepIndex owner = program.blocks[frame.index].owner;
      if (below->kind == Kind::compensating) return owner != no_index && program.steps[owner].compensate == frame.index;
      if (below->kind != Kind::step) return false;
      if (std::holds_alternative<UndoStep>(program.steps[below->index].body)) {
        return owner != no_index && program.steps[owner].compensate == frame.index;
      }
      return owner == below->index;
    }
  }
  return false;
}

Result<ActiveFrame> activate(const Program& program, const Strand& strand, const Frame& frame) {
  ActiveFrame active;
  if (frame.kind == "block") {
    active.index = program.places.find_block(frame.place);
    if (active.index == no_index) return corrupt(strand, frame, "the definition has no such place");
    const auto size = static_cast<std::int64_t>(program.blocks[active.index].steps.size());
    if (!frame.data.is_integer() || frame.data.as_integer() < 0 || frame.data.as_integer() > size) {
      return corrupt(strand, frame, "its position does not exist");
    }
    active.position = static_cast<std::uint32_t>(frame.data.as_integer());
    return active;
  }
  active.data = frame.data;
  if (frame.kind == "start") {
    active.kind = ActiveFrame::Kind::start;
  } else if (frame.kind == "compensating") {
    active.kind = ActiveFrame::Kind::compensating;
  } else {
    active.kind = ActiveFrame::Kind::step;
    active.index = program.places.find_step(frame.place);
    if (active.index == no_index) return corrupt(strand, frame, "the definition has no such place");
    if (frame.kind != type_name(program.steps[active.index].body))
      return corrupt(strand, frame, "the step has another type");
    if (!frame.visit.empty()) active.visit = Text(frame.visit);
  }
  return active;
}

}  // namespace

const char* type_name(const StepBody& body) { return step_types[body.index()]; }

Result<ActiveStrands> activate(const Program& program, const std::vector<Strand>& strands) {
  ActiveStrands active;
  active.reserve(strands.size() + 2);
  for (const Strand& strand : strands) {
    auto made = std::make_unique<ActiveStrand>();
    made->id = strand.id;
    made->parent = strand.parent;
    made->waits = strand.waits;
    made->frames.reserve(strand.frames.size() + 4);
    for (const Frame& frame : strand.frames) {
      CAIRN_TRY(ActiveFrame next, activate(program, strand, frame));
      if (!fits(program, made->frames.empty() ? nullptr : &made->frames.back(), next)) {
        return corrupt(strand, frame, "it cannot be there");
      }
      made->frames.push_back(std::move(next));
    }
    if (made->frames.empty())
      return Error{ErrorCode::corrupt, "strand " + std::to_string(strand.id) + " has no frames"};
    active.push_back(std::move(made));
  }
  return active;
}

std::vector<Strand> put_to_rest(const Program& program, ActiveStrands&& strands) {
  std::vector<Strand> rested;
  rested.reserve(strands.size());
  for (auto& strand : strands) {
    Strand& made = rested.emplace_back();
    made.id = strand->id;
    made.parent = strand->parent;
    made.waits = std::move(strand->waits);
    made.frames.reserve(strand->frames.size());
    for (ActiveFrame& frame : strand->frames) {
      Frame& written = made.frames.emplace_back();
      switch (frame.kind) {
        case ActiveFrame::Kind::block:
          written.kind = "block";
          written.place = program.places.block_place(frame.index);
          written.data = Json(frame.position);
          continue;
        case ActiveFrame::Kind::step: {
          const Step& step = program.steps[frame.index];
          written.kind = type_name(step.body);
          written.place = step.path;
          if (!frame.visit.empty()) written.visit = frame.visit.str();
          break;
        }
        case ActiveFrame::Kind::start: written.kind = "start"; break;
        case ActiveFrame::Kind::compensating: written.kind = "compensating"; break;
      }
      written.data = std::move(frame.data);
    }
  }
  return rested;
}

}  // namespace cairn
