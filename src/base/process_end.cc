#include "base/process_end.h"

#include <cstdlib>

namespace cairn {

namespace {
std::function<void(int)>& replaced_end() {
  static std::function<void(int)> end;
  return end;
}
}  // namespace

void end_process(int code) {
  if (const auto& end = replaced_end()) end(code);
  std::_Exit(code);
}

void set_process_end(std::function<void(int)> end) { replaced_end() = std::move(end); }

}  // namespace cairn
