#include "base/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace cairn {

struct NameLookup::State {
  static constexpr std::size_t names_max = 1000;
  static constexpr std::size_t idle_max = 4;
  struct Known {
    Addresses addresses;
    std::chrono::steady_clock::time_point until;
  };

  Resolve resolve;
  Found found;
  Lifetimes lifetimes;
  std::mutex mutex;
  std::condition_variable asked;
  std::deque<std::string> queue;                              // names that no thread has taken yet
  std::map<std::string, std::vector<std::uint64_t>> waiting;  // the tickets of each name that is being resolved
  std::map<std::string, Known> known;                         // a bounded cache; every entry may be dropped
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool stopping = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      if (queue.empty() && idle >= idle_max) {
        --threads;
        return;
      }
      ++idle;
      asked.wait(lock, [this] { return stopping || !queue.empty(); });
      --idle;
      if (stopping) return;
      const std::string host = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      const Addresses addresses = resolve(host);
      lock.lock();
      if (stopping) return;
      remember(host, addresses);
      const std::vector<std::uint64_t> tickets = std::move(waiting[host]);
      waiting.erase(host);
      for (const std::uint64_t ticket : tickets) found(ticket, addresses);
    }
  }

  void remember(const std::string& host, const Addresses& addresses) {
    const auto lifetime = addresses.empty() ? lifetimes.failed : lifetimes.found;
    if (lifetime.count() == 0) return;
    if (known.size() >= names_max) known.clear();
    known[host] = {addresses, std::chrono::steady_clock::now() + lifetime};
  }
};

NameLookup::NameLookup(Resolve resolve, Lifetimes lifetimes, Found found) : state_(std::make_shared<State>()) {
  state_->resolve = std::move(resolve);
  state_->lifetimes = lifetimes;
  state_->found = std::move(found);
}

NameLookup::~NameLookup() { stop(); }

void NameLookup::ask(std::uint64_t ticket, const std::string& host) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  if (state.stopping) return;
  const auto known = state.known.find(host);
  if (known != state.known.end() && known->second.until > std::chrono::steady_clock::now()) {
    return state.found(ticket, known->second.addresses);
  }
  std::vector<std::uint64_t>& tickets = state.waiting[host];
  tickets.push_back(ticket);
  if (tickets.size() > 1) return;  // a lookup is already running
  state.queue.push_back(host);
  if (state.idle < state.queue.size() && state.threads < threads_max) {
    ++state.threads;
    std::thread([shared = state_] { shared->run(); }).detach();
  }
  state.asked.notify_one();
}

void NameLookup::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->asked.notify_all();
}

struct NameWait::State {
  std::mutex mutex;
  std::condition_variable answered;
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::optional<NameLookup::Addresses>> waiting;  // by ticket
};

NameWait::NameWait(NameLookup::Resolve resolve)
    : state_(std::make_shared<State>()),
      lookup_(std::move(resolve), {}, [state = state_](std::uint64_t ticket, NameLookup::Addresses addresses) {
        const std::lock_guard lock(state->mutex);
        const auto waiting = state->waiting.find(ticket);
        if (waiting == state->waiting.end()) return;
        waiting->second = std::move(addresses);
        state->answered.notify_all();
      }) {}

Result<NameLookup::Addresses> NameWait::find(const std::string& host, std::chrono::milliseconds timeout) {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(state_->mutex);
    ticket = ++state_->next;
    state_->waiting.emplace(ticket, std::nullopt);
  }
  lookup_.ask(ticket, host);
  std::unique_lock lock(state_->mutex);
  const auto waiting = state_->waiting.find(ticket);
  state_->answered.wait_for(lock, timeout, [&] { return waiting->second.has_value(); });
  const std::optional<NameLookup::Addresses> addresses = std::move(waiting->second);
  state_->waiting.erase(waiting);
  if (!addresses) {
    return Error{ErrorCode::unavailable,
                 "the name server has not answered for " + host + " within " + std::to_string(timeout.count()) + " ms"};
  }
  if (addresses->empty()) return Error{ErrorCode::unavailable, "there is no host " + host};
  return *addresses;
}

Result<NameLookup::Addresses> find_addresses(const std::string& host, std::chrono::milliseconds timeout) {
  in6_addr bytes{};
  if (inet_pton(AF_INET, host.c_str(), &bytes) == 1 || inet_pton(AF_INET6, host.c_str(), &bytes) == 1) {
    return NameLookup::Addresses{host};
  }
  // Never destroyed: a thread may look up a name while the process ends.
  static NameWait* const names = new NameWait(ask_system);
  return names->find(host, timeout);
}

NameLookup::Addresses ask_system(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  NameLookup::Addresses addresses;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &list) != 0) return addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    char text[INET6_ADDRSTRLEN] = {};
    const void* const bytes = one->ai_family == AF_INET6
                                  ? static_cast<const void*>(&reinterpret_cast<sockaddr_in6*>(one->ai_addr)->sin6_addr)
                                  : static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(one->ai_addr)->sin_addr);
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    if (inet_ntop(one->ai_family, bytes, text, sizeof text) != nullptr) addresses.emplace_back(text);
  }
  freeaddrinfo(list);
  return addresses;
}

}  // namespace cairn
