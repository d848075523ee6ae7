// Writes one random definition, step by step. One function per step kind.
#pragma once

#include <string>
#include <vector>

#include "expression_source.h"
#include "generator.h"

namespace cairn::sim {

class WorkflowSource {
 public:
  WorkflowSource(Dice& dice, const CaseBounds& bounds, std::vector<std::string> children, CaseHints& hints);

  Json definition(const std::string& name);

 private:
  // The position of a step.
  struct Place {
    Names names;
    int depth = 0;
    int loops = 0;              // around it
    bool compensating = false;  // no `compensate`, no `undo`
  };

  Json::Array lane(const Place& place, int length_max);
  Json::Array nested(const Place& place, int length_max = 3);  // one level deeper; may be empty
  Json step(const Place& place);
  Json bare_step(const Place& place);

  Json set_step(const Place& place);
  Json trace_step(const Place& place);
  Json reference_step(const Place& place);
  Json task_step(const Place& place);
  Json task_fields(const Place& place, bool in_first);
  Json call_step(const Place& place);
  Json if_step(const Place& place);
  Json switch_step(const Place& place);
  Json repeat_step(const Place& place);
  Json parallel_step(const Place& place);
  Json first_step(const Place& place);
  Json wait_step(const Place& place);
  Json wait_value(const Place& place);
  Json signal_step(const Place& place);
  Json signal_fields(const Place& place, bool in_first);
  Json subworkflow_step(const Place& place);
  Json continue_step(const Place& place);
  Json emit_step(const Place& place);
  Json try_step(const Place& place);
  Json undo_step(const Place& place);
  Json fail_step(const Place& place);
  Json complete_step(const Place& place);

  // A special theme of a definition: features that interact.
  enum class Theme { none, endings, races, conflicts };
  // A body that ends in `complete`, and a `finally` that waits.
  Json::Array completing_body(const Place& place);
  Json completing_try(const Place& place);
  void draw_theme();

  Json duration();
  Json child_input(const Place& place);
  std::string result_path();

  Dice& dice_;
  CaseBounds bounds_;
  std::vector<std::string> children_;
  CaseHints& hints_;
  ExpressionSource expressions_;
  std::vector<int> weights_;
  Theme theme_ = Theme::none;
  std::string prefix_;
  int ids_ = 0;
  int steps_left_ = 0;
};

}  // namespace cairn::sim
