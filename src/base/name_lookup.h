// Resolves host names on its own threads, because the system's resolver can block for seconds. A name is resolved once
// per call, so that all its addresses can be checked before the client connects to one of them. Concurrent calls for
// the same name share one lookup. A slow name does not delay calls for other names.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn {

class NameLookup {
 public:
  // Concurrent lookups. A thread that waits for a name server is cheap; with too few threads every call would wait for
  // the slowest name server.
  static constexpr std::size_t threads_max = 64;

  using Addresses = std::vector<std::string>;  // as text; empty if the name does not exist
  using Resolve = std::function<Addresses(const std::string& host)>;
  // Called from a lookup thread or from the caller's thread. It must not block and must not call back into the lookup.
  using Found = std::function<void(std::uint64_t ticket, Addresses addresses)>;
  // How long an answer is cached. Zero disables the cache.
  struct Lifetimes {
    std::chrono::milliseconds found{0};
    std::chrono::milliseconds failed{0};
  };

  NameLookup(Resolve resolve, Lifetimes lifetimes, Found found);
  ~NameLookup();

  void ask(std::uint64_t ticket, const std::string& host);
  // No callback runs after this. Does not wait for the system's resolver.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with threads that may outlive this object while the system's resolver blocks
};

// The same for a caller that waits for the answer, but no longer than it says. Answers are not cached: a database may
// move to another address at any time. Safe from several threads.
class NameWait {
 public:
  explicit NameWait(NameLookup::Resolve resolve);
  // Blocks. ErrorCode::unavailable if the name does not exist or there is no answer in time.
  Result<NameLookup::Addresses> find(const std::string& host, std::chrono::milliseconds timeout);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the lookup, whose answer may come after this object
  NameLookup lookup_;
};

// `NameWait::find` with the system's resolver. An address is its own answer.
Result<NameLookup::Addresses> find_addresses(const std::string& host, std::chrono::milliseconds timeout);

// The system's resolver.
NameLookup::Addresses ask_system(const std::string& host);
// For the system's resolver: caches found names for 30 seconds and unknown names for two seconds.
inline constexpr NameLookup::Lifetimes system_lifetimes{std::chrono::seconds(30), std::chrono::seconds(2)};

}  // namespace cairn
