// Conformance vectors: typed values in and out, one JSON object a line.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn::cli {

// Answers one vector: {"id", "value"[, "type"]}, {"id", "type"}, {"id", "error", "phase"}.
Json answer_expression_vector(const Json& vector);

// One vector a line in, one answer a line out.
int answer_expression_vectors(std::istream& in, std::ostream& out);

// Runs the vectors of files of the form {"vectors": […]}, compares with what each expects and
// prints what failed and how many passed. Exit code 1 when one fails, 2 when a file is no such file.
int score_expression_vectors(const std::vector<std::string>& files, std::istream& in, std::ostream& out,
                             std::ostream& err);

}  // namespace cairn::cli
