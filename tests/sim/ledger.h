// The ledger of the outside world: every effect of workers by its idempotency key, and every published event. It
// detects lost and repeated effects.
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

  // Performs the effect once; a repeat with the same key gets the first result.
  const Json& perform(const RunRow& run, const Json& result, const Chronicle& chronicle);
  void published(const OutboxRow& row);

  // Checks that every succeeded run was performed and has the result of the outside world, and that every event was
  // published.
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
