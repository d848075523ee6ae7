// Reads values, conditions, durations and times of the source: checks and compiles them and writes their canonical
// form.
#pragma once

#include <optional>
#include <vector>

#include "definition/draft.h"
#include "definition/template.h"

namespace cairn {

// What a value position requires of literals, and of expressions whose type is known.
enum class Expect { anything, text, texts, list, object, integer };

// `= …` text, or {"$expr": "…"}.
bool is_expression(const SourceNode& node);

// What is known about the value without running; dyn if nothing is.
expr::Type type_of(const Template& value);

// Each reports errors and answers an empty value then; `canonical` becomes the canonical form.
Template read_value(const Site& site, const Cursor& at, Expect expect, bool secrets, Json& canonical);
expr::Expression read_condition(const Site& site, const Cursor& at, Json& canonical);
DurationTemplate read_duration(const Site& site, const Cursor& at, Json& canonical);
std::optional<Duration> read_duration_literal(const Site& site, const Cursor& at, Json& canonical);
TimeTemplate read_time(const Site& site, const Cursor& at, Json& canonical);
DueTemplate read_due(const Site& site, const Cursor& at, Json& canonical);

}  // namespace cairn
