// Which rows of wf_lease_q this process wrote, and which runs of each are still leased as far as it knows. A row whose
// runs have all ended is of no use any more; without this they would stay until the leases had ended. Nothing depends
// on it: what it does not know of is removed when its time comes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::postgres {

// Runs that were leased together: the key of their row, and their UUIDs.
struct LeasedTogether {
  std::int64_t row = 0;
  std::vector<std::string> runs;
};

// A key for a new row.
std::int64_t new_lease_row();

class LeaseWatch {
 public:
  // Only of what is committed, here as below: a row must not go while one of its runs is leased.
  void leased(const LeasedTogether& batch);
  void ended(std::string_view run);
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
  };
  static Key key_of(std::string_view uuid);

  std::mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<Row>, Hash> runs_;
  std::vector<std::int64_t> spent_;
};

}  // namespace cairn::postgres
