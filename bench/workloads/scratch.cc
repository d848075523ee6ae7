#include "workloads/scratch.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace cairn::bench {

Result<Scratch> Scratch::make(const std::string& parent) {
  std::string path = parent + "/cairn-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::unavailable, parent + ": no folder can be made there"};
  }
  return Scratch(std::move(path));
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::uint64_t Scratch::bytes() const {
  std::uint64_t bytes = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(path_, gone)) {
    if (entry.is_regular_file(gone)) bytes += entry.file_size(gone);
  }
  return bytes;
}

}  // namespace cairn::bench
