// A total order of JSON values in which 1 and 1.0 are equal, so that large sets can be searched.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"

namespace cairn::schema {

// Negative, zero or positive; zero exactly when same_value(a, b).
int compare_values(const Json& a, const Json& b) noexcept;

// The number of values inside `value`, counted up to `enough`. It is the cost of a comparison.
std::size_t count_values(const Json& value, std::size_t enough);

// The indexes of two equal items, or empty. Few items are compared without allocating, many by sorting.
std::optional<std::pair<std::size_t, std::size_t>> find_repeated(const Json::Array& items);

}  // namespace cairn::schema
