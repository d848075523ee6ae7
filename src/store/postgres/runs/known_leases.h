// The rows of wf_lease_q that this process wrote, and which runs of each are still leased as far as it knows. A row
// whose runs have all ended is no longer needed; without this class it would stay until the leases expire. Correctness
// does not depend on it: unknown rows are removed when they are due. It also knows the attempt of each lease, which is
// fixed while the run has that lease.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::postgres {

struct LeasedRun {
  std::string uuid;
  std::uint64_t fence = 0;
  int attempt = 0;
};

// Runs that were leased together, and the key of their row.
struct LeasedTogether {
  std::int64_t row = 0;
  std::vector<LeasedRun> runs;
  std::string type = {};
};

// A key for a new row.
std::int64_t new_lease_row();

class KnownLeases {
 public:
  // Report only committed leases and ends: a row must not be removed while one of its runs is leased.
  void leased(const LeasedTogether& batch);
  // Ends the lease with this fence and all earlier ones. A later lease may exist already.
  void ended(std::string_view run, std::uint64_t fence);
  // The attempt of the lease with this fence, if it was given here.
  std::optional<int> attempt_of(std::string_view run, std::uint64_t fence) const;
  // The same with its type.
  struct Lease {
    int attempt;
    std::shared_ptr<const std::string> type;  // shared by all that were leased together
  };
  std::optional<Lease> find(std::string_view run, std::uint64_t fence) const;
  // Rows that can be removed; each is answered once.
  std::vector<std::int64_t> spent();

 private:
  using Key = std::array<std::uint64_t, 2>;
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept { return key[0] * 0x9e3779b97f4a7c15u ^ key[1]; }
  };
  struct Row {
    std::int64_t id;
    std::size_t open;
    std::string type;
  };
  struct Known {
    std::shared_ptr<Row> row;
    std::uint64_t fence;
    int attempt;
  };
  static Key key_of(std::string_view uuid);

  mutable std::mutex mutex_;
  std::unordered_map<Key, Known, Hash> runs_;
  std::vector<std::int64_t> spent_;
};

}  // namespace cairn::postgres
