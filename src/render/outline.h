// What a diagram shows, without positions: the block tree of a definition with its texts.
#pragma once

#include <string>
#include <vector>

#include "definition/program.h"

namespace cairn::render {

enum class Shape {
  start,
  end,
  action,  // call
  data,    // set, reference
  task,
  wait,
  signal,
  subworkflow,
  event,  // emit, continue_with
  undo,
  decision,  // if, switch
  race,      // first
  fork,
  join,     // the lower bar of a fork
  loop,     // header of a repeat's container
  attempt,  // header of a try's container
  cleanup,  // header of a finally's container
  complete,
  fail,
  jump,       // continues at another step, named on a chip
  collapsed,  // a whole block drawn as one step
};
const char* to_string(Shape shape);

enum class LaneKind {
  flow,          // a case, a branch, an option, a body
  failure,       // on_failure, catch
  timeout,       // on_timeout, and deadlines that interrupt
  beside,        // a deadline that leaves its task open: never returns to the main path
  compensation,  // runs when the step is undone: never returns either
};
const char* to_string(LaneKind kind);

struct Item;

struct Lane {
  LaneKind kind = LaneKind::flow;
  std::string name;   // as in Block::lane: then, case0, on_failure
  std::string label;  // on the edge; may be empty
  std::vector<Item> items;
};

// One item of a sequence. The lanes of kind `flow` belong to its shape: the cases of a decision, the options of a race,
// the branches of a fork, the body of a container. Every other shape has at most one, which follows it (on_complete).
// All other lanes leave to the right.
struct Item {
  Shape shape = Shape::action;
  std::string step;    // the step's id
  std::string part;    // the part of the step, if not the step itself: option0, finally, when
  std::string label;   // sanitized text, not wrapped yet
  std::string detail;  // a second, smaller text: its condition
  std::string target;  // of a jump: a step's id
  std::string joined;  // of a fork that does not wait for all branches: "2 of 3"
  std::vector<Lane> lanes;
  int node = -1;       // set by `nodes_of`
  int join_node = -1;  // of a fork
};

struct Outline {
  std::string name;
  std::string version;
  std::string title;  // of the definition, or its name
  std::string digest;
  std::vector<Item> items;
};

Outline outline_of(const Program& program);

// Draws every block that is nested `depth` lanes deep or deeper as one step. 0 leaves only the main path.
void collapse(Outline& outline, int depth);

// Whether nothing can follow it: every path through it completes, fails or jumps.
bool always_ends(const Item& item);
bool always_ends(const std::vector<Item>& items);

}  // namespace cairn::render
