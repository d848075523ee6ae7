// The definitions of `cairn dev`: deployed at the start and again when their files change.
#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include "cairn/engine.h"

namespace cairn {
struct Program;
}

namespace cairn::cli {

class DevDefinitions {
 public:
  // Both must outlive it. Prints changes on `out` and errors on `err`.
  DevDefinitions(Engine& engine, std::ostream& out, std::ostream& err) : engine_(engine), out_(out), err_(err) {}

  // If the version exists with other content, it gets a suffix (1.0.0+2), so that a file can be edited repeatedly;
  // running instances keep their version. Returns false if the definition is invalid: all errors were printed, and the
  // previous deployment stays.
  bool deploy(std::string_view text, const std::string& file);
  // The names and versions that were deployed, in order, as one line.
  std::string deployed();
  // Deploys the file again after a write.
  void changed(const std::string& file);

 private:
  void add(const Program& program);

  Engine& engine_;
  std::ostream& out_;
  std::ostream& err_;
  std::mutex mutex_;
  std::string deployed_;
};

}  // namespace cairn::cli
