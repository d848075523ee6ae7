// A definition while it is read: the Program and the canonical form grow together, and what is wrong is gathered.
//
// One walk over the source does it all. Stored canonical forms take the same walk, so nothing that a file may not
// hold can come in through a database.
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
  const SourceDocument* document = nullptr;  // nullptr: made from JSON, there are no places inside text
  Limits limits;
  std::span<const std::string> transports;  // known beside http, graphql and worker
  bool stored = false;                      // a stored form: what depends on the machine was checked when it came in

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
  std::map<StepIndex, Start> starts;  // where `subworkflow` and `continue_with` name their definition
  std::vector<std::vector<std::string>> state_reads;
  bool expressions_broken = false;  // some reads are not known
  std::set<std::string, std::less<>> functions;
  std::set<std::string, std::less<>> config;
  std::set<std::string, std::less<>> secrets;
  std::map<std::string, SourcePlace, std::less<>> ids;

  void error(const Cursor& at, std::string message) { findings.error(at.at(), at.pointer(), std::move(message)); }
  void warning(const Cursor& at, std::string message) { findings.warning(at.at(), at.pointer(), std::move(message)); }
  // About something that the object at `at` lacks.
  void error_at_key(const Cursor& at, std::string message) {
    findings.error(at.key_at(), at.pointer(), std::move(message));
  }

  // The expression in the text node `at`, whose own text begins at byte `begin`. Empty when it is wrong.
  expr::Expression compile(const Cursor& at, std::size_t begin, const Scope& scope, bool secrets);
};

// Where the parts of a step (or of the document) are read.
struct Site {
  Draft& draft;
  const Scope& scope;
  StepIndex step = no_index;  // owns the lanes
  std::string path;           // its place; empty for the document
  bool undoing = false;       // inside a `compensate` list

  Site with(const Scope& other) const { return {draft, other, step, path, undoing}; }
};

// Reads the list of steps at `list` as the lane `lane` of `site.step`; `canonical` becomes the array.
BlockIndex read_steps(const Site& site, const Cursor& list, std::string_view lane, Json& canonical);

// The block exists and is not empty.
inline bool has_steps(const Draft& draft, BlockIndex block) {
  return block != no_index && !draft.program.blocks[block].steps.empty();
}

// Reads the whole document into `draft.program` and answers the canonical form. What is wrong stands in the findings.
Json read_document(Draft& draft, const SourceNode& root);

}  // namespace cairn
