// The requests of a caller and the answers to them. The engine, the HTTP server and programs that embed cairn use
// the same types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "instance/failure.h"
#include "instance/status.h"

namespace cairn {

// The caller.
struct Actor {
  std::string name = "operator";
  // Roles in human tasks. Absent: they are not checked (the operator, the command line).
  std::optional<std::vector<std::string>> roles = {};
  bool manages_tasks = false;  // the permission tasks.manage: every task, whatever its roles
  // Idempotency keys and signal ids belong to their sender: equal ones of two senders are different ones. Empty: the
  // host program itself.
  std::string sender = {};
};

struct StartRequest {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Json input = Json::object();
  std::optional<Reference> reference;
  std::string id;               // empty: a new one
  std::string idempotency_key;  // empty: none
  Actor actor;
  std::string traceparent = {};  // W3C: the trace that the instance continues; empty or malformed: it starts its own
};

// The state of an instance when a request was committed, or when it was read.
struct InstanceAnswer {
  InstanceId instance;
  Status status = Status::running;
  std::uint64_t state_version = 0;
  Json output;                   // of a completed instance
  std::optional<Failure> error;  // of a failed, cancelled or suspended instance
  bool repeated = false;         // an earlier request with the same key or signal id did it
  bool gone = false;             // retention has removed the instance since; another one may have its id
};

}  // namespace cairn
