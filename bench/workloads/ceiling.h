// What this machine can write at all: the rows that one-wait changes, taken from a real run of it, written again and
// again by one thread with bare SQLite, as many slices a transaction as there are requests outstanding. Only the time
// between BEGIN and COMMIT counts; the values are made before it.
#pragma once

#include <memory>

#include "workloads/workload.h"

namespace cairn::bench {

class Ceiling {
 public:
  static Result<Ceiling> of_one_wait(const Plan& plan);
  Ceiling(Ceiling&&) noexcept;
  ~Ceiling();

  // Workflows a second, with so many slices in a transaction.
  Result<Row> run(const Plan& plan, int slices) const;

 private:
  struct Sample;
  explicit Ceiling(std::unique_ptr<Sample> sample);
  std::unique_ptr<Sample> sample_;
};

}  // namespace cairn::bench
