// `signals` of a definition: rules for the signals of one name (rule S35).
#pragma once

#include <map>
#include <string>

#include "definition/fields.h"

namespace cairn {

extern const KeyTable signal_rule_table;

std::map<std::string, SignalRule, std::less<>> read_signal_rules(Fields& document);
// Warns of rules for signals that no step waits for. Call it when all steps are read.
void check_signal_rules(Draft& draft, const SourceNode& root);

}  // namespace cairn
