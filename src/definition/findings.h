// What was found wrong or doubtful in one definition, gathered in any order, handed out in source order.
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
  // In source order; of the errors the first hundred.
  std::vector<Diagnostic> take();

 private:
  // Gathering goes on past `errors_max`, so that the hundred shown are the first ones of the file, but not for ever.
  static constexpr std::size_t gathered_max = 10'000;

  std::vector<Diagnostic> found_;
  std::size_t errors_ = 0;
};

}  // namespace cairn
