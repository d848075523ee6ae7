// Measures which steps and lanes of definitions were executed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "definition/program.h"
#include "instance/advance.h"

namespace cairn {

struct DefinitionCoverage {
  std::string name;
  std::string version;
  std::size_t steps = 0;
  std::size_t steps_begun = 0;
  std::size_t lanes = 0;  // then, else, cases, loops, branches, options, catches, deadlines, ...
  std::size_t lanes_entered = 0;
  std::vector<std::string> missed;  // places of lanes that were never entered, in definition order
};

class Coverage {
 public:
  void add(const std::shared_ptr<const Program>& program, const Trace& trace);
  std::vector<DefinitionCoverage> summary() const;  // by name and version

 private:
  struct Seen {
    std::shared_ptr<const Program> program;  // shared with the scenarios that ran it
    std::set<std::uint32_t> steps;
    std::set<std::uint32_t> blocks;
  };
  std::map<std::string, Seen> by_digest_;
};

}  // namespace cairn
