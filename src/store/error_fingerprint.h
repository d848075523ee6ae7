// Names the failures that have one cause: the same error at the same step of the same workflow.
#pragma once

#include <string>
#include <string_view>

#include "instance/failure.h"

namespace cairn {

// The message without what differs from instance to instance: texts in quotes, ids and long numbers.
std::string error_pattern(std::string_view message);

// 16 hexadecimal digits.
std::string error_fingerprint(std::string_view definition, const Failure& failure);
std::string error_fingerprint(std::string_view definition, std::string_view step, std::string_view code,
                              std::string_view message);

}  // namespace cairn
