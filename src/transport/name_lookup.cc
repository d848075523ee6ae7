#include "transport/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace cairn {

struct NameLookup::State {
  Resolve resolve;
  Found found;
  std::mutex mutex;
  std::condition_variable asked;
  std::deque<std::pair<std::uint64_t, std::string>> questions;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool stopping = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      asked.wait(lock, [this] { return stopping || !questions.empty(); });
      --idle;
      if (stopping) return;
      const auto [ticket, host] = std::move(questions.front());
      questions.pop_front();
      lock.unlock();
      Addresses addresses = resolve(host);
      lock.lock();
      if (stopping) return;
      found(ticket, std::move(addresses));
    }
  }
};

NameLookup::NameLookup(Resolve resolve, Found found) : state_(std::make_shared<State>()) {
  state_->resolve = std::move(resolve);
  state_->found = std::move(found);
}

NameLookup::~NameLookup() { stop(); }

void NameLookup::ask(std::uint64_t ticket, std::string host) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stopping) return;
  state_->questions.emplace_back(ticket, std::move(host));
  if (state_->idle < state_->questions.size() && state_->threads < threads_max) {
    ++state_->threads;
    std::thread([state = state_] { state->run(); }).detach();
  }
  state_->asked.notify_one();
}

void NameLookup::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->asked.notify_all();
}

namespace {

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

// What was found a short while ago. Bounded; forgetting is always allowed.
class RememberedNames {
 public:
  NameLookup::Addresses operator()(const std::string& host) {
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(mutex_);
      const auto known = names_.find(host);
      if (known != names_.end() && known->second.until > now) return known->second.addresses;
    }
    NameLookup::Addresses addresses = ask_system(host);
    if (addresses.empty()) return addresses;
    const std::lock_guard lock(mutex_);
    if (names_.size() >= names_max) names_.clear();
    names_[host] = {addresses, now + std::chrono::seconds(30)};
    return addresses;
  }

 private:
  static constexpr std::size_t names_max = 1000;
  struct Known {
    NameLookup::Addresses addresses;
    std::chrono::steady_clock::time_point until;
  };
  std::mutex mutex_;
  std::map<std::string, Known> names_;
};

}  // namespace

NameLookup::Resolve system_names() {
  return [names = std::make_shared<RememberedNames>()](const std::string& host) { return (*names)(host); };
}

}  // namespace cairn
