// The errors and warnings of one definition, collected in any order and returned in source order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "definition/definition.h"

namespace cairn {

class Findings {
 public:
  static constexpr std::size_t errors_max = 100;

  void error(SourcePlace at, std::string pointer, std::string message);
  void warning(SourcePlace at, std::string pointer, std::string message);
  void add(std::vector<Diagnostic> found);

  std::size_t errors() const { return errors_; }
  bool full() const { return errors_ >= gathered_max; }
  // In source order, with at most the first hundred errors.
  std::vector<Diagnostic> take();

 private:
  // Collecting continues past `errors_max`, so that the hundred reported errors are the first ones of the file. This
  // bound limits it.
  static constexpr std::size_t gathered_max = 10'000;

  std::vector<Diagnostic> found_;
  std::size_t errors_ = 0;
};

}  // namespace cairn
