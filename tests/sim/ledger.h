// The outside world's book: every effect that workers made, by its idempotency key, and every event that
// was published. The judge of what was lost or done twice.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "chronicle.h"
#include "store/rows.h"

namespace cairn::sim {

class Ledger {
 public:
  struct Effect {
    std::string run;
    Json result;
    int requests = 0;
  };

  explicit Ledger(std::function<void(Violation)> report) : report_(std::move(report)) {}

  // Makes the effect once; a repeat under the same key is given the first one's result.
  const Json& perform(const RunRow& run, const Json& result, const Chronicle& chronicle);
  void published(const OutboxRow& row);

  // Every run that succeeded was made, and gave what the world answered; every event was published.
  void check(Store& store, const Chronicle& chronicle);
  std::size_t effects() const { return effects_.size(); }

 private:
  std::function<void(Violation)> report_;
  std::map<std::string, Effect> effects_;
  std::map<std::string, std::string> key_of_run_;
  std::map<std::string, std::int64_t> last_of_subject_;
  std::map<std::int64_t, int> published_;
};

}  // namespace cairn::sim
