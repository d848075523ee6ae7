// A folder for one run, removed with its contents.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::bench {

class Scratch {
 public:
  // Below `parent`, which is on the measured disk.
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
