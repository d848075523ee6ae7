#include "store/row_filters.h"

#include <string.h>  // memmem

#include <algorithm>

#include "base/ascii.h"
#include "store/error_fingerprint.h"

namespace cairn {
namespace {

// Searches a text in other texts, ignoring the case of ASCII letters. The time is linear in the searched text. Callers
// control both texts, and a naive search of two long texts would take seconds.
class SearchedText {
 public:
  explicit SearchedText(std::string_view text) : text_(ascii_lower(text)) {}

  bool is_in(std::string_view text) const {
    if (text_.empty()) return true;
    if (text.size() < text_.size()) return false;
    const std::string lower = ascii_lower(text);
    return memmem(lower.data(), lower.size(), text_.data(), text_.size()) != nullptr;  // two-way, linear
  }
  bool is_in(const Reference& reference) const {
    if (reference.key.is_string() && is_in(reference.key.as_string())) return true;
    if (!reference.parts.is_object()) return false;
    return std::any_of(
        reference.parts.members().begin(), reference.parts.members().end(), [this](const Json::Member& member) {
          return member.value.is_string() ? is_in(member.value.as_string()) : is_in(write_json(member.value));
        });
  }

 private:
  const std::string text_;
};

// Parts are compared as text, so `7` finds the number 7 too.
bool has_part(const Reference& reference, const std::string& name, const std::string& value) {
  if (!reference.parts.is_object()) return false;
  const Json* part = reference.parts.find(name);
  if (part == nullptr) return false;
  return part->is_string() ? part->as_string() == value : write_json(*part) == value;
}

bool has_any(const std::vector<std::string>& wanted, const std::vector<std::string>& roles) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& role) {
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  });
}

bool has_role(const TaskRow& task, const std::vector<std::string>& roles) {
  return roles.empty() || task.roles.empty() || has_any(task.roles, roles);
}

}  // namespace

bool is_manager(const TaskRow& task, const std::vector<std::string>& roles) { return has_any(task.managers, roles); }

bool has_right(const TaskRow& task, const std::vector<std::string>& roles) {
  return task.roles.empty() || has_any(task.roles, roles) || is_manager(task, roles);
}

bool matches(const InstanceRow& row, const InstanceFilter& filter) {
  if (row.deleted_at && !filter.deleted) return false;
  if (filter.status && row.status != *filter.status) return false;
  if (!filter.definition.empty() && row.program.name != filter.definition) return false;
  if (!filter.version.empty() && row.program.version != filter.version) return false;
  if (!filter.reference_key.empty() && row.reference.key != Json(filter.reference_key)) return false;
  for (const auto& [name, value] : filter.reference_parts) {
    if (!has_part(row.reference, name, value)) return false;
  }
  if (filter.parent && row.parent != filter.parent) return false;
  if (filter.started_from && row.started_at < *filter.started_from) return false;
  if (filter.started_to && row.started_at >= *filter.started_to) return false;
  if (filter.retrying && row.status != Status::running && row.status != Status::waiting) return false;
  // The store has compared the step of a retrying run.
  if (!filter.step.empty() && !filter.retrying && (!row.error || row.error->step != filter.step)) return false;
  if (!filter.fingerprint.empty()) {
    if (!row.error || error_fingerprint(row.program.name, *row.error) != filter.fingerprint) return false;
  }
  if (filter.text.empty()) return true;
  const SearchedText text(filter.text);
  return text.is_in(row.id.value) || text.is_in(row.program.name) || text.is_in(row.reference);
}

bool matches(const TaskRow& row, const TaskFilter& filter) {
  const bool open = row.status == TaskStatus::open || row.status == TaskStatus::assigned;
  if (filter.status ? row.status != *filter.status : !open && !filter.closed) return false;
  if (!filter.assignee.empty() && row.assignee != filter.assignee) return false;
  if (!has_role(row, filter.roles)) return false;
  if (filter.viewer_roles && !has_right(row, *filter.viewer_roles)) return false;
  if (filter.instance && row.instance != *filter.instance) return false;
  if (!filter.name.empty() && row.name != filter.name) return false;
  if (!filter.reference_key.empty() && row.reference.key != Json(filter.reference_key)) return false;
  if (filter.due_before) {
    const bool late =
        (row.due && *row.due < *filter.due_before) || (row.deadline && *row.deadline < *filter.due_before);
    if (!late) return false;
  }
  if (filter.text.empty()) return true;
  const SearchedText text(filter.text);
  return text.is_in(row.name) || text.is_in(row.title) || text.is_in(row.instance.value) || text.is_in(row.reference);
}

bool needs_reading(const InstanceFilter& filter) {
  return !filter.version.empty() || !filter.reference_parts.empty() || !filter.text.empty() || !filter.step.empty() ||
         !filter.fingerprint.empty();
}

bool needs_reading(const TaskFilter& filter) {
  return !filter.reference_key.empty() || !filter.text.empty() || filter.due_before;
}

}  // namespace cairn
