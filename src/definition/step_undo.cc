#include "definition/step_kinds.h"

namespace cairn {
namespace {

const KeyTable undo_table{"undo", {}};

const Key undo_keys[] = {
    {"undo", Shape::object, "Runs the registered compensations in reverse; written `undo: {}`.", true, std::nullopt,
     &undo_table},
};

StepBody read_undo(Fields& outer) {
  const auto at = outer.find("undo");
  if (!at) return UndoStep{};
  Fields fields(outer.site(), *at, undo_table);
  if (outer.site().undoing) {
    outer.site().draft.findings.error(at->key_at(), at->pointer(), "`undo` cannot stand inside `compensate`");
  }
  outer.put("undo", fields.take());
  return UndoStep{};
}

}  // namespace

const StepKind undo_kind{"undo", "Runs the registered compensations in reverse.", undo_keys, read_undo};

}  // namespace cairn
