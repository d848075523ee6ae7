// Strands during an advance: the frames of a snapshot with places resolved to indexes.
//
// Frames alternate on the stack. A block frame is at one of its steps. If that step is in progress, a step frame
// follows. If the step runs a lane, the lane's block frame follows. The lowest frame is a block, `start` (reference and
// state are not evaluated yet), or `compensating` (the undos of `on_error: compensate`).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/text.h"
#include "definition/program.h"
#include "instance/snapshot.h"

namespace cairn {

struct ActiveFrame {
  enum class Kind : std::uint8_t { start, block, step, compensating };
  Kind kind = Kind::block;
  std::uint32_t index = no_index;  // of the block or step
  std::uint32_t position = 0;      // block: the current step; its size: after the last step
  Json data;                       // step and compensating only
  Text visit = {};                 // step: as in Frame
};

struct ActiveStrand {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::vector<ActiveFrame> frames;
  std::vector<WaitToken> waits;
  bool ready = false;

  ActiveFrame& top() { return frames.back(); }
};

// In the order of the snapshot. Addresses stay valid while strands are added and removed.
using ActiveStrands = std::vector<std::unique_ptr<ActiveStrand>>;

// ErrorCode::corrupt if a place does not exist in this program or the frames do not fit together.
Result<ActiveStrands> activate(const Program& program, const std::vector<Strand>& strands);
std::vector<Strand> put_to_rest(const Program& program, ActiveStrands&& strands);

// The type of a step as the definition language calls it: set, task, continue_with, ...
const char* type_name(const StepBody& body);

}  // namespace cairn
