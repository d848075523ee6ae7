// Strands while an advance runs: the frames of a snapshot with places turned into indexes.
//
// A stack alternates: a block frame stands at one of its steps; when that step is in the middle of
// something, a step frame follows; when it runs a lane, the lane's block frame follows that. The
// lowest frame is a block, or `start` (reference and state are not evaluated yet), or
// `compensating` (the undos of `on_error: compensate`).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "definition/program.h"
#include "instance/snapshot.h"

namespace cairn {

struct ActiveFrame {
  enum class Kind : std::uint8_t { start, block, step, compensating };
  Kind kind = Kind::block;
  std::uint32_t index = no_index;  // of the block or step
  std::uint32_t position = 0;      // block: the step it is at; its size: past the last
  Json data;                       // step, compensating
};

struct ActiveStrand {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::vector<ActiveFrame> frames;
  std::vector<WaitToken> waits;
  bool ready = false;

  ActiveFrame& top() { return frames.back(); }
};

// In the order of the snapshot. Addresses are stable while strands come and go.
using ActiveStrands = std::vector<std::unique_ptr<ActiveStrand>>;

// ErrorCode::corrupt when a place does not exist in this program or the frames do not fit together.
Result<ActiveStrands> activate(const Program& program, const std::vector<Strand>& strands);
std::vector<Strand> put_to_rest(const Program& program, ActiveStrands&& strands);

// The type of a step as the definition language calls it: set, task, continue_with, ...
const char* type_name(const StepBody& body);

}  // namespace cairn
