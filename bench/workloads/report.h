// The results of a run, for people and for programs.
#pragma once

#include <ostream>

#include "workloads/workload.h"

namespace cairn::bench {

// One line per row.
void print_table(const std::vector<Row>& rows, std::ostream& out);
Json to_json(const std::vector<Row>& rows);

}  // namespace cairn::bench
