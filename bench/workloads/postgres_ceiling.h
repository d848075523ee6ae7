// What a PostgreSQL server can write at all: the rows that one-wait changes, taken from a real run of it, written again
// and again without an engine. Two connections, each with half of the slices that are outstanding in one pipelined
// transaction, a column an array, in binary; each puts its next one together when the last is committed, by copying,
// and sends it at once. In a schema of its own, which is removed afterwards.
#pragma once

#include <memory>

#include "workloads/workload.h"

namespace cairn::bench {

class PostgresCeiling {
 public:
  static Result<PostgresCeiling> of_one_wait(const Plan& plan);
  PostgresCeiling(PostgresCeiling&&) noexcept;
  ~PostgresCeiling();

  // Workflows a second, with so many slices under way.
  Result<Row> run(const Plan& plan, int slices) const;

 private:
  struct Sample;
  explicit PostgresCeiling(std::unique_ptr<Sample> sample);
  std::unique_ptr<Sample> sample_;
};

}  // namespace cairn::bench
