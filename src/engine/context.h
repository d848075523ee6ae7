// What all parts of one engine share: the store, the settings and the name of this node.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/time.h"
#include "engine/retention_counts.h"
#include "engine/workflow_counts.h"
#include "store/store.h"

namespace cairn {

// Where retention exports the audit trail before it removes rows, and what signs the exports.
struct AuditArchive {
  std::string folder;
  Ed25519PrivateKey key;
};

struct CoreOptions {
  std::string node = "node";  // gets a random suffix, so a restarted host does not own the leases of its predecessor
  Json config = Json::object();
  Limits limits;
  bool strict_definitions = true;
  Duration deploy_grace = Duration::of_seconds(60);  // how long a missing definition may still arrive
  Duration hold = Duration::of_seconds(30);          // how long taken work is reserved for this node without a commit
  std::size_t due_batch = 1024;                      // messages or timers taken at a time
  int refused_attempts = 1;  // deliveries of a message that the store refuses, before it is given up
  bool dead_letters = true;  // written for messages that are given up; false: only logged
  std::size_t snapshots_cached = 4096;
  std::string event_source = "/cairn";             // CloudEvents `source`, the same at sinks, in streams and in lists
  std::optional<AuditArchive> audit_archive = {};  // absent: audit rows stay for ever
  bool trace = false;                              // units list the steps that they executed (Advance::trace)
  // For a host that runs many activities on one thread: no thread is started and none is blocked. An activity that
  // waits for a commit writes the queued units itself, and calls this while it waits for another activity.
  std::function<void()> yield;
};

struct EngineContext {
  Store& store;  // outlives the engine
  const CoreOptions options;
  const std::string node;  // unique: the name from the options and a random part
  std::atomic<bool> stopping = false;
  std::atomic<bool> stops_soon = false;            // before and while `stopping`
  std::atomic<std::uint64_t> signals_expired = 0;  // kept signals that this node turned into dead letters
  WorkflowCounts counts = {};                      // what this node has done, for metrics
  RetentionCounts removed = {};                    // what retention has removed on this node, for metrics
};

}  // namespace cairn
