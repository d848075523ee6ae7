// The Idempotency-Key under which a thread carries out a request. A change to an instance takes it into its commit
// (Unit::inbox), so that a repeat changes nothing more even when the server died before it could keep the answer.
//
// Ambient for the same reason as the audit_scope (ADR 5): the gate knows the key, the commit needs it, and what lies
// between has nothing to do with it.
#pragma once

#include <string>

namespace cairn {

class RequestKey {
 public:
  // Of the calling thread; empty: the request has none.
  static const std::string& current();

  // The calling thread's, for as long as this lives.
  class Scope {
   public:
    explicit Scope(std::string key);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::string before_;
  };
};

}  // namespace cairn
