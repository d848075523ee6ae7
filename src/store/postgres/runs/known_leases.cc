#include "store/postgres/runs/known_leases.h"

#include <bit>
#include <random>
#include <utility>

#include "base/id.h"

namespace cairn::postgres {

namespace {

// Ends on other nodes are not reported here, so entries accumulate. From this many on, it is cheaper to start over.
constexpr std::size_t known_max = 1'000'000;

}  // namespace

std::int64_t new_lease_row() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return static_cast<std::int64_t>(random() >> 1);
}

KnownLeases::Key KnownLeases::key_of(std::string_view uuid) { return std::bit_cast<Key>(uuid_bytes(uuid)); }

void KnownLeases::leased(const LeasedTogether& batch) {
  const std::lock_guard lock(mutex_);
  if (runs_.size() > known_max) runs_.clear();
  const auto row = std::make_shared<Row>(Row{batch.row, batch.runs.size(), batch.type});
  for (const LeasedRun& run : batch.runs) {
    runs_.insert_or_assign(key_of(run.uuid), Known{row, run.fence, run.attempt});
  }
}

std::optional<int> KnownLeases::attempt_of(std::string_view run, std::uint64_t fence) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key_of(run));
  if (found == runs_.end() || found->second.fence != fence || fence == 0) return std::nullopt;
  return found->second.attempt;
}

std::optional<KnownLeases::Lease> KnownLeases::find(std::string_view run, std::uint64_t fence) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key_of(run));
  if (found == runs_.end() || found->second.fence != fence || fence == 0) return std::nullopt;
  const Known& known = found->second;
  return Lease{known.attempt, {known.row, &known.row->type}};
}

void KnownLeases::ended(std::string_view run, std::uint64_t fence) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key_of(run));
  if (found == runs_.end() || found->second.fence > fence) return;
  Row& row = *found->second.row;
  if (--row.open == 0) spent_.push_back(row.id);
  runs_.erase(found);
}

std::vector<std::int64_t> KnownLeases::spent() {
  const std::lock_guard lock(mutex_);
  return std::exchange(spent_, {});
}

}  // namespace cairn::postgres
