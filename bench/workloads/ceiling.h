// The upper bound of this machine: the rows that one-wait changes, recorded from a real run and written repeatedly by
// one thread with plain SQLite. A transaction has as many slices as there are outstanding requests. Only the time
// between BEGIN and COMMIT counts; the values are created before.
#pragma once

#include <memory>

#include "workloads/workload.h"

namespace cairn::bench {

class Ceiling {
 public:
  static Result<Ceiling> of_one_wait(const Plan& plan);
  Ceiling(Ceiling&&) noexcept;
  ~Ceiling();

  // Workflows per second, with this many slices per transaction.
  Result<Row> run(const Plan& plan, int slices) const;

 private:
  struct Sample;
  explicit Ceiling(std::unique_ptr<Sample> sample);
  std::unique_ptr<Sample> sample_;
};

}  // namespace cairn::bench
