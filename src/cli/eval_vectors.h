// Conformance vectors: typed values in and out, one JSON object per line.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn::cli {

// Answers one vector: {"id", "value"[, "type"]}, {"id", "type"}, {"id", "error", "phase"}.
Json answer_expression_vector(const Json& vector);

// Reads one vector per line and writes one answer per line.
int answer_expression_vectors(std::istream& in, std::ostream& out);

// Runs the vectors of files of the form {"vectors": […]} and compares the results. Prints the failures and how many
// passed. Exit code 1 if one fails, 2 if a file has another form.
int score_expression_vectors(const std::vector<std::string>& files, std::istream& in, std::ostream& out,
                             std::ostream& err);

}  // namespace cairn::cli
