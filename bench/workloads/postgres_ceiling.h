// The upper bound of a PostgreSQL server: the rows that one-wait changes, recorded from a real run and written
// repeatedly without an engine. Two connections each write half of the outstanding slices in one pipelined transaction,
// with one binary array per column. Each connection builds its next transaction by copying after the last one is
// committed, and sends it at once. It uses a separate schema, which is removed afterwards.
#pragma once

#include <memory>

#include "workloads/workload.h"

namespace cairn::bench {

class PostgresCeiling {
 public:
  static Result<PostgresCeiling> of_one_wait(const Plan& plan);
  PostgresCeiling(PostgresCeiling&&) noexcept;
  ~PostgresCeiling();

  // Workflows per second, with this many slices in flight.
  Result<Row> run(const Plan& plan, int slices) const;

 private:
  struct Sample;
  explicit PostgresCeiling(std::unique_ptr<Sample> sample);
  std::unique_ptr<Sample> sample_;
};

}  // namespace cairn::bench
