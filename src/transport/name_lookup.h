// Addresses of host names, found on threads of its own: asking the system can take seconds. A name is looked up once
// for a call, so that all of its addresses can be checked before one of them is connected to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cairn {

class NameLookup {
 public:
  static constexpr std::size_t threads_max = 4;

  using Addresses = std::vector<std::string>;  // as text; none: there is no such name
  using Resolve = std::function<Addresses(const std::string& host)>;
  // From a thread of the lookup's; must be quick and must not call back here.
  using Found = std::function<void(std::uint64_t ticket, Addresses addresses)>;

  NameLookup(Resolve resolve, Found found);
  ~NameLookup();

  void ask(std::uint64_t ticket, std::string host);
  // Nothing is found afterwards. Does not wait for the system to answer.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with threads that may outlive this while the system takes its time
};

// The system's resolver, which is asked for a name at most every half minute.
NameLookup::Resolve system_names();

}  // namespace cairn
