// Random workflows: every step kind, nested, bounded, always valid, always ending. A case is named by
// two seeds: this one makes the definitions, another one makes the world that they live in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn::sim {

struct CaseBounds {
  int steps_max = 40;    // of each definition, about
  int depth_max = 5;     // of lanes in lanes
  int children_max = 2;  // definitions besides the root's
};

// What the definitions talk about, so that a world can make sensible and hostile choices.
struct CaseHints {
  std::vector<std::string> task_names;
  std::vector<std::string> signal_names;
  std::vector<std::string> signal_keys;
  std::vector<std::string> worker_types;  // cairn.http.v1 among them when there are http calls
  std::vector<std::string> people;        // the first one is in some task's `exclude`
};

struct GeneratedCase {
  std::uint64_t workflow_seed = 0;
  std::vector<Json> definitions;  // sources; children before those that start them, the root last
  std::string root;               // the root's name
  Json input;
  CaseHints hints;
};

GeneratedCase generate_case(std::uint64_t workflow_seed, const CaseBounds& bounds = {});

// An answer, a signal's payload or a worker's result as the generated expressions expect it; in some cases
// (`hostile_percent`) one that is not: members missing or of another kind.
Json random_payload(class Dice& dice, int hostile_percent);

}  // namespace cairn::sim
