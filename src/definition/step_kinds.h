// The kinds of steps: name, keys and reader. Each kind has one entry here and one file.
#pragma once

#include <span>
#include <string_view>

#include "definition/fields.h"
#include "definition/keys.h"
#include "definition/program.h"

namespace cairn {

struct StepKind {
  std::string_view name;   // also the key that selects this kind
  std::string_view about;  // a sentence for editors
  std::span<const Key> keys;
  StepBody (*read)(Fields& step);
};

// In the order of the documentation.
std::span<const StepKind> step_kinds();
const StepKind* find_step_kind(std::string_view name);

// Keys that every step may have.
std::span<const Key> common_step_keys();

// One for each kind, in step_NAME.cc.
extern const StepKind set_kind;
extern const StepKind reference_kind;
extern const StepKind task_kind;
extern const StepKind call_kind;
extern const StepKind if_kind;
extern const StepKind switch_kind;
extern const StepKind repeat_kind;
extern const StepKind parallel_kind;
extern const StepKind first_kind;
extern const StepKind wait_kind;
extern const StepKind signal_kind;
extern const StepKind subworkflow_kind;
extern const StepKind continue_kind;
extern const StepKind emit_kind;
extern const StepKind try_kind;
extern const StepKind undo_kind;
extern const StepKind fail_kind;
extern const StepKind complete_kind;

}  // namespace cairn
