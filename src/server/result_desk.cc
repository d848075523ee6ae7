#include "server/result_desk.h"

#include <algorithm>

namespace cairn::server {
namespace {

constexpr std::chrono::milliseconds look_every{1'000};

}  // namespace

ResultDesk::~ResultDesk() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void ResultDesk::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  for (const auto& [number, place] : places_) told_.insert(number);
  changed_.notify_all();
}

std::size_t ResultDesk::waiting() const {
  const std::scoped_lock lock(mutex_);
  return places_.size();
}

void ResultDesk::wait(const InstanceId& id, std::chrono::milliseconds limit, Answer answer) {
  take({id, std::nullopt, std::chrono::steady_clock::now() + limit, {}, std::move(answer), nullptr});
}

void ResultDesk::wait_for_change(const InstanceId& id, std::uint64_t after, std::chrono::milliseconds limit,
                                 Answer answer) {
  take({id, after, std::chrono::steady_clock::now() + limit, {}, std::move(answer), nullptr});
}

// Nodes tell each other of ends and not of every change, which would be a message for every commit: where there
// are several, those who wait for a change look now and then.
ResultDesk::Instant ResultDesk::next_look(const Place& place) const {
  const bool may_change_elsewhere = place.after && coordinator_.store().writers() > 1;
  return may_change_elsewhere ? std::min(place.until, std::chrono::steady_clock::now() + look_every) : place.until;
}

void ResultDesk::take(Place place) {
  const InstanceId id = place.id;
  place.next_look = next_look(place);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = ++last_;
    looks_.emplace(place.next_look, number);
    places_.emplace(number, std::move(place));
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
  }
  auto call = coordinator_.result_waiters().call(id, [this, number] {
    const std::scoped_lock lock(mutex_);
    told_.insert(number);
    changed_.notify_all();
  });
  // Registered first, looked at after: an end between the two is not missed.
  const std::scoped_lock lock(mutex_);
  if (const auto found = places_.find(number); found != places_.end()) found->second.call = std::move(call);
  told_.insert(number);
  changed_.notify_all();
}

void ResultDesk::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Instant now = std::chrono::steady_clock::now();
    std::optional<std::uint64_t> number;
    if (!told_.empty()) {
      number = *told_.begin();
      told_.erase(told_.begin());
    } else if (!looks_.empty() && looks_.begin()->first <= now) {
      number = looks_.begin()->second;
    }
    if (number) {
      lock.unlock();
      look(*number);
      lock.lock();
    } else if (looks_.empty()) {
      changed_.wait(lock, stop, [this] { return !told_.empty() || !looks_.empty(); });
    } else {
      changed_.wait_until(lock, stop, looks_.begin()->first, [this, first = looks_.begin()->first] {
        return !told_.empty() || looks_.empty() || looks_.begin()->first < first;
      });
    }
  }
}

void ResultDesk::look(std::uint64_t number) {
  InstanceId id;
  {
    const std::scoped_lock lock(mutex_);
    const auto place = places_.find(number);
    if (place == places_.end()) return;
    id = place->second.id;
  }
  Result<std::optional<InstanceRow>> row = coordinator_.store().find_instance(id);
  Place place;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    looks_.erase({found->second.next_look, number});
    const std::optional<std::uint64_t> after = found->second.after;
    const bool over = closed_ || found->second.until <= std::chrono::steady_clock::now();
    if (row && *row && !over) {
      // Whoever waits for a change has seen that it is suspended.
      const bool there = after ? (*row)->version > *after : (*row)->status == Status::suspended;
      if (!there && !is_final((*row)->status)) {
        found->second.next_look = next_look(found->second);
        looks_.emplace(found->second.next_look, number);
        return;
      }
    }
    place = std::move(found->second);
    places_.erase(found);
  }
  if (!row) {
    place.answer(row.error());
  } else if (!*row) {
    place.answer(Error{ErrorCode::not_found, "no instance " + id.value});
  } else {
    place.answer(std::move(**row));
  }
}

}  // namespace cairn::server
