#include "api/instance_waiters.h"

#include <algorithm>

#include "store/projection.h"

namespace cairn::api {
namespace {

constexpr std::chrono::milliseconds look_every{1'000};

}  // namespace

InstanceWaiters::~InstanceWaiters() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  // Destroyed outside the lock: the callbacks may ask for the number of waiters.
  std::map<std::uint64_t, Place> left;
  const std::scoped_lock lock(line_->mutex);
  left.swap(line_->places);
}

void InstanceWaiters::close() {
  {
    const std::scoped_lock lock(line_->mutex);
    line_->closed = true;
    for (const auto& [number, place] : line_->places) line_->told.insert(number);
    line_->changed.notify_all();
  }
  for (const auto& closed : on_close_) closed();
}

std::size_t InstanceWaiters::waiting() const {
  const std::scoped_lock lock(line_->mutex);
  return line_->places.size();
}

void InstanceWaiters::wait(const InstanceId& id, std::chrono::milliseconds limit, Done<Result<Seen>> done) {
  take({id, std::nullopt, std::chrono::steady_clock::now() + limit, {}, std::move(done), nullptr});
}

void InstanceWaiters::wait_for_change(const InstanceId& id, std::uint64_t after, std::chrono::milliseconds limit,
                                      Done<Result<Seen>> done) {
  take({id, after, std::chrono::steady_clock::now() + limit, {}, std::move(done), nullptr});
}

// Nodes notify each other of ended instances but not of every change, because that would be a message per commit. With
// several nodes, waiters for a change therefore poll.
InstanceWaiters::Instant InstanceWaiters::next_look(const Place& place) const {
  const bool may_change_elsewhere = place.after && core_.store().traits().shared;
  return may_change_elsewhere ? std::min(place.until, std::chrono::steady_clock::now() + look_every) : place.until;
}

std::optional<InstanceWaiters::Place> InstanceWaiters::Line::take(std::uint64_t number) {
  const auto found = places.find(number);
  if (found == places.end()) return std::nullopt;
  looks.erase({found->second.next_look, number});
  told.erase(number);
  std::optional<Place> place(std::move(found->second));
  places.erase(found);
  return place;
}

void InstanceWaiters::Line::look_at(Instant when, std::uint64_t number) {
  Place& place = places.at(number);
  looks.erase({place.next_look, number});
  place.next_look = when;
  looks.emplace(when, number);
  // Most waiters wait longer than earlier ones and need not wake the thread.
  if (when < sleeps_until) changed.notify_all();
}

void InstanceWaiters::tell(Line& line, std::uint64_t number, const Snapshot* after) {
  std::optional<Place> place;
  {
    const std::scoped_lock lock(line.mutex);
    const auto found = line.places.find(number);
    if (found == line.places.end()) return;
    if (after == nullptr) {  // the internal thread must read it
      line.told.insert(number);
      line.changed.notify_all();
      return;
    }
    if (!found->second.waits_for(after->state_version, after->status)) return;
    place = line.take(number);
  }
  place->done(Seen{project_instance(*after), after});
}

void InstanceWaiters::take(Place place) {
  const InstanceId id = place.id;
  const bool for_the_end = !place.after;
  const Instant first_look = next_look(place);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(line_->mutex);
    number = ++last_;
    line_->places.emplace(number, std::move(place));
    line_->look_at(first_look, number);
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
  }
  auto call = core_.listeners().results().call(
      id, [line = line_, number](const Snapshot* after) { tell(*line, number, after); });
  // Register first and look afterwards, so that an end in between is not missed.
  const bool active = for_the_end && core_.instances().is_known_active(id);
  const std::scoped_lock lock(line_->mutex);
  const auto found = line_->places.find(number);
  if (found == line_->places.end()) return;
  found->second.call = std::move(call);
  if (active && !line_->closed) {
    line_->look_at(std::min(found->second.until, std::chrono::steady_clock::now() + InstanceRequests::unseen_max),
                   number);
  } else {
    line_->told.insert(number);
    line_->changed.notify_all();
  }
}

void InstanceWaiters::run(const std::stop_token& stop) {
  std::unique_lock lock(line_->mutex);
  while (!stop.stop_requested()) {
    const Instant now = std::chrono::steady_clock::now();
    std::optional<std::uint64_t> number;
    if (!line_->told.empty()) {
      number = *line_->told.begin();
      line_->told.erase(line_->told.begin());
    } else if (!line_->looks.empty() && line_->looks.begin()->first <= now) {
      number = line_->looks.begin()->second;
    }
    if (number) {
      lock.unlock();
      look(*number);
      lock.lock();
      continue;
    }
    line_->sleeps_until = line_->looks.empty() ? Instant::max() : line_->looks.begin()->first;
    const auto sooner = [this] {
      return !line_->told.empty() || (!line_->looks.empty() && line_->looks.begin()->first < line_->sleeps_until);
    };
    if (line_->looks.empty()) {
      line_->changed.wait(lock, stop, sooner);
    } else {
      line_->changed.wait_until(lock, stop, line_->sleeps_until, sooner);
    }
    line_->sleeps_until = Instant::min();  // awake: it will see new waiters
  }
}

void InstanceWaiters::look(std::uint64_t number) {
  InstanceId id;
  {
    const std::scoped_lock lock(line_->mutex);
    const auto place = line_->places.find(number);
    if (place == line_->places.end()) return;
    id = place->second.id;
  }
  Result<std::optional<InstanceRow>> row = core_.store().find_instance(id);
  std::optional<Place> place;
  {
    const std::scoped_lock lock(line_->mutex);
    const auto found = line_->places.find(number);
    if (found == line_->places.end()) return;
    const bool over = line_->closed || found->second.until <= std::chrono::steady_clock::now();
    if (row && *row && !over && !found->second.waits_for((*row)->state_version, (*row)->status)) {
      line_->look_at(next_look(found->second), number);
      return;
    }
    place = line_->take(number);
  }
  if (!row) {
    place->done(row.error());
  } else if (!*row) {
    place->done(Error{ErrorCode::not_found, "no instance " + id.value});
  } else {
    place->done(Seen{std::move(**row), nullptr});
  }
}

}  // namespace cairn::api
