// Collects what a batch changes for pieces (instance/pieces.h) and writes it last, because two batches must add the same
// pieces in the same order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "instance/pieces.h"
#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

class PieceWrites {
 public:
  // In the order of the units. The changes must stay in place until everything is sent.
  void change(std::int64_t instance, const PieceChanges& changes);
  // The same for changes of a temporary.
  void change_and_keep(std::int64_t instance, PieceChanges changes);
  void send(Connection& db) const;

 private:
  std::map<std::string_view, std::string_view> texts_;              // by hash
  std::map<std::pair<std::int64_t, std::string_view>, bool> uses_;  // true: it begins; false: it ends
  std::set<std::int64_t> whole_;                                    // instances whose uses are exactly those in uses_
  std::deque<PieceChanges> kept_;
};

}  // namespace cairn::postgres
