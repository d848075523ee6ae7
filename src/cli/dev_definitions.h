// The definitions of `cairn dev`: deployed at the start, and again whenever their files change.
#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include "cairn/engine.h"

namespace cairn::cli {

class DevDefinitions {
 public:
  // Both outlive it. What changes is told on `out`, what is wrong on `err`.
  DevDefinitions(Engine& engine, std::ostream& out, std::ostream& err) : engine_(engine), out_(out), err_(err) {}

  // A version that is taken by other content gets a number behind it (1.0.0+2), so that a file can be edited again and
  // again; running instances keep what they began with. False: everything that is wrong was printed, and what was
  // deployed before stays.
  bool deploy(std::string_view text, const std::string& file);
  // Deploys the file once more, after it was written.
  void changed(const std::string& file);

 private:
  Engine& engine_;
  std::ostream& out_;
  std::ostream& err_;
  std::mutex mutex_;
};

}  // namespace cairn::cli
