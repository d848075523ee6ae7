// src/engine ties the interpreter to a store: requests and due work become deliveries, and a delivery loads, advances,
// commits and concludes. It uses src/interpreter, src/store and src/runs, and it knows neither HTTP nor SQL. It has no
// threads for loops and workers; src/node has them. EngineCore puts the parts together, which are safe from several
// threads. To follow one instance, read InstanceRequests::start first, then Deliveries::start and Deliveries::deliver.
#pragma once

#include <memory>
#include <string>

#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/due_work.h"
#include "engine/instance_requests.h"
#include "engine/listeners.h"
#include "engine/postponed_work.h"
#include "engine/registry.h"
#include "engine/run_reports.h"
#include "engine/run_requests.h"
#include "engine/task_requests.h"
#include "runs/run_leasing.h"

namespace cairn {

// Builds the parts of an engine in dependency order and hands them out.
class EngineCore {
 public:
  // `store` must outlive it and have no other listener.
  static Result<std::unique_ptr<EngineCore>> open(Store& store, CoreOptions options);
  ~EngineCore();

  Store& store() { return context_.store; }
  // The settings, and what the parts know of a stop.
  const EngineContext& context() const { return context_; }
  const std::string& node() const { return context_.node; }
  // What this node has done, for metrics.
  WorkflowCounts& counts() { return context_.counts; }
  RetentionCounts& removed() { return context_.removed; }
  // Requests that read or remove very much end early from now on, so that they do not delay the stop.
  void expect_stop() { context_.stops_soon = true; }

  Registry& registry() { return registry_; }
  Listeners& listeners() { return listeners_; }
  RunLeasing& leasing() { return leasing_; }
  Deliveries& deliveries() { return deliveries_; }
  InstanceRequests& instances() { return instances_; }
  TaskRequests& tasks() { return tasks_; }
  RunRequests& runs() { return runs_; }
  RunReports& reports() { return reports_; }
  DueWork& due() { return due_; }

  // Finishes submitted requests. Later requests get ErrorCode::unavailable.
  void stop();

 private:
  EngineCore(Store& store, CoreOptions options);
  // What the store says, perhaps from inside a commit.
  void hear(const Wakeup& wakeup);

  EngineContext context_;
  Registry registry_;
  Listeners listeners_;
  RunLeasing leasing_;
  PostponedWork postponed_;
  Deliveries deliveries_;
  InstanceRequests instances_;
  TaskRequests tasks_;
  RunRequests runs_;
  RunReports reports_;
  DueWork due_;
};

}  // namespace cairn
