// Workflows generated from a seed, and what each must do: its effects, exactly once each, and the tasks and signals
// that it needs.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace cairn {

struct GeneratedWorkflow {
  std::string name;
  std::string text;                  // YAML
  std::vector<std::string> effects;  // the suffixes after the instance id in the labels of its effects
  std::vector<std::string> signals;  // names, each with the instance id as key
};

// Returns `count` definitions; the first text in the list is the child that they start.
std::vector<GeneratedWorkflow> generate_workflows(std::mt19937& random, std::size_t count);
const char* child_workflow();

// Compares the ledger with the expected effects: each label exists under exactly one key, no label and no key twice,
// nothing else. Returns one line per violation; `repeats` counts calls that were repeated with the same key.
std::vector<std::string> judge_ledger(const std::string& path, const std::set<std::string>& owed, std::size_t& repeats);

}  // namespace cairn
