#include "instance/snapshot.h"

namespace cairn {

std::string resume_pointer(const Strand& strand) {
  std::string pointer;
  std::string rounds;
  for (const Frame& frame : strand.frames) {
    if (frame.kind == "block" && frame.data.is_integer()) {
      pointer = frame.place + "[" + std::to_string(frame.data.as_integer()) + "]";
    } else if (frame.kind == "repeat") {
      const Json& round = frame.data["index"];
      rounds += (rounds.empty() ? "#" : ".") + std::to_string(round.is_integer() ? round.as_integer() : 0);
    } else if (frame.kind == "start" || frame.kind == "compensating") {
      pointer = frame.kind;
    }
  }
  return pointer + rounds;
}

}  // namespace cairn
