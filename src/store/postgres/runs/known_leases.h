// Which rows of wf_lease_q this process wrote, and which runs of each are still leased as far as it knows. A row whose
// runs have all ended is of no use any more; without this they would stay until the leases had ended. Nothing depends
// on it: what it does not know of is removed when its time comes. And which attempt each lease is, which is a fact as
// long as the run has that lease.
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
  // Only of what is committed, here as below: a row must not go while one of its runs is leased.
  void leased(const LeasedTogether& batch);
  // The lease with this fencing number, and those before. A later one may have been given meanwhile.
  void ended(std::string_view run, std::uint64_t fence);
  // Of the lease with this fencing number, when it was given here.
  std::optional<int> attempt_of(std::string_view run, std::uint64_t fence) const;
  // The same with its type.
  struct Lease {
    int attempt;
    std::shared_ptr<const std::string> type;  // one for all that were leased together
  };
  std::optional<Lease> find(std::string_view run, std::uint64_t fence) const;
  // Rows that may go, each once.
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
