// A definition during reading. The Program and the canonical form grow together, and findings are collected.
//
// One walk over the source does everything. Stored canonical forms take the same walk, so a database cannot contain
// anything that a file may not.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "definition/cursor.h"
#include "definition/findings.h"
#include "definition/program.h"
#include "definition/scope.h"

namespace cairn {

struct Draft {
  const SourceDocument* document = nullptr;  // nullptr: made from JSON, without places inside text
  Limits limits;
  std::span<const std::string> transports;  // accepted in addition to http, graphql and worker
  bool stored = false;                      // a stored form: machine-dependent checks passed when it was deployed

  Findings findings;
  ScopeNames names;
  Program program;

  struct ResultUse {
    StatePath path;
    SourcePlace at;
    std::string pointer;
  };
  std::vector<ResultUse> results;
  std::vector<std::string> pointers;  // of the steps, by index
  struct Start {
    SourcePlace at;
    std::string pointer;
  };
  std::map<StepIndex, Start> starts;  // the places where `subworkflow` and `continue_with` name a definition
  struct StateRead {
    std::vector<std::string> path;
    bool optional = false;  // with has() or .?, so the key may be missing
    SourcePlace at;
    std::string pointer;
  };
  std::vector<StateRead> state_reads;
  // A value that `set` or `state` writes; the type is dyn if only the data can tell.
  struct StateWrite {
    StatePath path;
    expr::Type type;
    SourcePlace at;
    std::string pointer;
  };
  std::vector<StateWrite> state_writes;
  const SourceNode* state_source = nullptr;  // the value of `state`; nullptr: none
  SourcePlace initial_state_at;              // the key `state`; without it `state_schema`
  struct FourEyes {
    std::string task;
    std::string other;
    SourcePlace at;
    std::string pointer;
  };
  std::vector<FourEyes> four_eyes;
  bool expressions_broken = false;  // not all reads are known
  std::set<std::string, std::less<>> functions;
  std::set<std::string, std::less<>> config;
  std::set<std::string, std::less<>> secrets;
  std::map<std::string, SourcePlace, std::less<>> ids;

  void error(const Cursor& at, std::string message) { findings.error(at.at(), at.pointer(), std::move(message)); }
  void warning(const Cursor& at, std::string message) { findings.warning(at.at(), at.pointer(), std::move(message)); }
  // Reports something that the object at `at` lacks.
  void error_at_key(const Cursor& at, std::string message) {
    findings.error(at.key_at(), at.pointer(), std::move(message));
  }

  // Compiles the expression in the text node `at`; its text begins at byte `begin`. Empty if it is invalid.
  expr::Expression compile(const Cursor& at, std::size_t begin, const Scope& scope, bool secrets);
};

// The context in which the parts of a step (or of the document) are read.
struct Site {
  Draft& draft;
  const Scope& scope;
  StepIndex step = no_index;  // the owner of the lanes
  std::string path;           // its place; empty for the document
  bool undoing = false;       // inside a `compensate` list

  Site with(const Scope& other) const { return {draft, other, step, path, undoing}; }
};

// Reads the list of steps at `list` as the lane `lane` of `site.step`; `canonical` becomes the array.
BlockIndex read_steps(const Site& site, const Cursor& list, std::string_view lane, Json& canonical);

// Whether the block exists and is not empty.
inline bool has_steps(const Draft& draft, BlockIndex block) {
  return block != no_index && !draft.program.blocks[block].steps.empty();
}

// Reads the whole document into `draft.program` and answers the canonical form. Errors go to the findings.
Json read_document(Draft& draft, const SourceNode& root);

}  // namespace cairn
