// Addresses of host names, found on threads of its own: asking the system can take seconds. A name is looked up once
// for a call, so that all of its addresses can be checked before one of them is connected to. Calls for a name that is
// being looked up share that lookup, and a slow name delays no call for another one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cairn {

class NameLookup {
 public:
  // Lookups at once. A thread that waits for a name server costs next to nothing; too few of them would make every
  // call wait for the slowest name server.
  static constexpr std::size_t threads_max = 64;

  using Addresses = std::vector<std::string>;  // as text; none: there is no such name
  using Resolve = std::function<Addresses(const std::string& host)>;
  // From a thread of the lookup's or the one that asks; must be quick and must not call back here.
  using Found = std::function<void(std::uint64_t ticket, Addresses addresses)>;
  // How long an answer is used again. Zero: it is not.
  struct Lifetimes {
    std::chrono::milliseconds found{0};
    std::chrono::milliseconds failed{0};
  };

  NameLookup(Resolve resolve, Lifetimes lifetimes, Found found);
  ~NameLookup();

  void ask(std::uint64_t ticket, const std::string& host);
  // Nothing is found afterwards. Does not wait for the system to answer.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with threads that may outlive this while the system takes its time
};

// The system's resolver.
NameLookup::Addresses ask_system(const std::string& host);
// For the system's resolver: a name that was found is asked for at most every half minute, one that was not found every
// two seconds.
inline constexpr NameLookup::Lifetimes system_lifetimes{std::chrono::seconds(30), std::chrono::seconds(2)};

}  // namespace cairn
