// Instances by a value in their state: `data.customer.city:Bern`. No store has an index of states, so the snapshots of
// the instances that match the rest of the filter are read, at most `scanned_max` for one request.
#pragma once

#include "store/store.h"

namespace cairn::api {

class InstanceSearch {
 public:
  static constexpr std::size_t scanned_max = 20'000;

  explicit InstanceSearch(Store& store, std::size_t budget = scanned_max) : store_(store), budget_(budget) {}

  // Like InstanceStore::list_instances. A page that ends because the budget is used up may have fewer rows and a
  // cursor.
  Result<Page<InstanceRow>> list(const InstanceFilter& filter, const PageRequest& page);

 private:
  Store& store_;
  std::size_t budget_;  // rows that may still be read
};

// Whether the state has the values. Numbers and other values compare by their JSON text.
bool has_values(const Json& state, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace cairn::api
