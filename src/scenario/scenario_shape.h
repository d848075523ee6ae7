// Checks the form of a scenario's events and expectations. A misspelled expectation would be a test that cannot fail.
#pragma once

#include <optional>
#include <string>

#include "definition/source.h"

namespace cairn {

struct Misshapen {
  SourcePlace at;
  std::string what;
};

// `kind` is one of the event kinds; `value` is its value.
std::optional<Misshapen> check_event(const std::string& kind, const SourceNode& value);
std::optional<Misshapen> check_reply(const SourceNode& value);
std::optional<Misshapen> check_reference(const SourceNode& value);
std::optional<Misshapen> check_expectation(const SourceNode& value);

}  // namespace cairn
