#include "server/result_desk.h"

#include <algorithm>

#include "store/projection.h"

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
  const bool for_the_end = !place.after;
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
  auto call = coordinator_.result_waiters().call(id, [this, number](const Snapshot* after) {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    if (after != nullptr) {
      if (!found->second.waits_for(after->version, after->status)) return;
      found->second.seen = *after;
    }
    told_.insert(number);
    changed_.notify_all();
  });
  // Registered first, looked at after: an end between the two is not missed.
  const bool goes_on = for_the_end && coordinator_.goes_on(id);
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(number);
  if (found == places_.end()) return;
  found->second.call = std::move(call);
  if (goes_on && !closed_) {
    looks_.erase({found->second.next_look, number});
    found->second.next_look = std::min(found->second.until, std::chrono::steady_clock::now() + Coordinator::unseen_max);
    looks_.emplace(found->second.next_look, number);
  } else {
    told_.insert(number);
  }
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
  std::optional<Snapshot> seen;
  {
    const std::scoped_lock lock(mutex_);
    const auto place = places_.find(number);
    if (place == places_.end()) return;
    id = place->second.id;
    seen = std::move(place->second.seen);
  }
  Result<std::optional<InstanceRow>> row =
      seen ? std::optional(project_instance(*seen)) : coordinator_.store().find_instance(id);
  Place place;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    looks_.erase({found->second.next_look, number});
    const bool over = closed_ || found->second.until <= std::chrono::steady_clock::now();
    if (row && *row && !over && !found->second.waits_for((*row)->version, (*row)->status)) {
      found->second.next_look = next_look(found->second);
      looks_.emplace(found->second.next_look, number);
      return;
    }
    place = std::move(found->second);
    places_.erase(found);
  }
  if (!row) {
    place.answer(row.error());
  } else if (!*row) {
    place.answer(Error{ErrorCode::not_found, "no instance " + id.value});
  } else {
    place.answer(Seen{std::move(**row), std::move(seen)});
  }
}

}  // namespace cairn::server
