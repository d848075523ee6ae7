// The Idempotency-Key under which a thread carries out a request. A change to an instance takes it into its commit
// (Unit::inbox), and so does a change to a run (run_key.h). So a repeat changes nothing more even when the server died
// before it could keep the answer.
//
// It is ambient for the same reason as the audit scope (ADR 5): the gate knows the key and the commit needs it, but no
// function between them does.
#pragma once

#include <string>

namespace cairn {

class RequestKey {
 public:
  // The key of the calling thread; empty: the request has none.
  static const std::string& current();

  // Sets the key of the calling thread during its lifetime.
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
