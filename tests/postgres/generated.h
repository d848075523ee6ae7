// Workflows drawn from a seed, with what each owes to the outside: which effects, exactly once each, and which
// tasks and signals somebody has to bring.
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
  std::vector<std::string> effects;  // what follows the instance id in the labels of its effects
  std::vector<std::string> signals;  // names, each with the instance id as key
};

// `count` definitions; the first text in the list is the child that they start.
std::vector<GeneratedWorkflow> generate_workflows(std::mt19937& random, std::size_t count);
const char* child_workflow();

// The ledger against what is owed: each label there under exactly one key, no label and no key twice, nothing else.
// What is wrong, a line each; `repeats` counts calls that were made again with the same key.
std::vector<std::string> judge_ledger(const std::string& path, const std::set<std::string>& owed, std::size_t& repeats);

}  // namespace cairn
