// The acknowledgements that clients received. Each is a promise and is compared with the store.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "chronicle.h"
#include "engine/core.h"

namespace cairn::sim {

class Promises {
 public:
  struct Sent {
    std::string name;
    Json key;
    Timestamp until;  // not kept after this
  };

  explicit Promises(std::function<void(Violation)> report) : report_(std::move(report)) {}

  void started(const std::string& key, const InstanceAnswer& answer, const Chronicle& chronicle);
  void completed(const TaskCompletion& completion, const InstanceAnswer& answer, const Chronicle& chronicle);
  void signalled(const InstanceId& instance, const std::string& signal, const Chronicle& chronicle);
  void broadcast(const SignalRequest& request, Timestamp until);
  void cancelled(const InstanceAnswer& answer, const Chronicle& chronicle);

  // Checks that no instance waits for a signal that was accepted but never applied.
  void check_signals(Store& store, const Chronicle& chronicle, Timestamp now);
  void check(Store& store, const Chronicle& chronicle);

  const std::vector<InstanceId>& instances() const { return instances_; }

 private:
  void broken(std::string invariant, std::string message) { report_({std::move(invariant), std::move(message)}); }

  std::function<void(Violation)> report_;
  std::vector<InstanceId> instances_;
  std::map<std::string, std::string> by_key_;
  std::map<std::string, std::pair<std::string, Json>> completed_;  // by task: the person and the answer
  std::map<std::string, Sent> broadcast_;
};

}  // namespace cairn::sim
