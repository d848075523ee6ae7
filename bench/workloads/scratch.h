// A folder for one run, removed with everything in it.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::bench {

class Scratch {
 public:
  // Below `parent`, which is the disk that is measured.
  static Result<Scratch> make(const std::string& parent);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;  // of all files in it

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace cairn::bench
