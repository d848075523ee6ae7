// Random workflows: every step kind, nested, bounded, always valid, always ending. A case is named by two seeds: this
// one creates the definitions, the other one creates their world.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn::sim {

struct CaseBounds {
  int steps_max = 40;    // of each definition, approximately
  int depth_max = 5;     // nesting of lanes
  int children_max = 2;  // definitions in addition to the root
};

// What the definitions refer to, so that a world can make sensible and hostile choices.
struct CaseHints {
  std::vector<std::string> task_names;
  std::vector<std::string> signal_names;
  std::vector<std::string> signal_keys;
  std::vector<std::string> worker_types;  // includes cairn.http.v1 if there are http calls
  std::vector<std::string> people;        // the first one is excluded by some task
};

struct GeneratedCase {
  std::uint64_t workflow_seed = 0;
  std::vector<Json> definitions;  // sources; children before their parents, the root last
  std::string root;               // the root's name
  Json input;
  CaseHints hints;
};

GeneratedCase generate_case(std::uint64_t workflow_seed, const CaseBounds& bounds = {});

// An answer, a signal payload or a worker result that the generated expressions expect. With the probability
// `hostile_percent` members are missing or of another kind.
Json random_payload(class Dice& dice, int hostile_percent);

}  // namespace cairn::sim
