#include "server/result_desk.h"

namespace cairn::server {

ResultDesk::~ResultDesk() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::size_t ResultDesk::waiting() const {
  const std::scoped_lock lock(mutex_);
  return places_.size();
}

void ResultDesk::wait(const InstanceId& id, std::chrono::milliseconds limit, Answer answer) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = ++last_;
    const auto until = std::chrono::steady_clock::now() + limit;
    places_.emplace(number, Place{id, until, std::move(answer), nullptr});
    deadlines_.emplace(until, number);
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
  if (const auto place = places_.find(number); place != places_.end()) place->second.call = std::move(call);
  told_.insert(number);
  changed_.notify_all();
}

void ResultDesk::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (!told_.empty()) {
      const std::uint64_t number = *told_.begin();
      told_.erase(told_.begin());
      lock.unlock();
      look(number, false);
      lock.lock();
    } else if (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const std::uint64_t number = deadlines_.begin()->second;
      lock.unlock();
      look(number, true);
      lock.lock();
    } else if (deadlines_.empty()) {
      changed_.wait(lock, stop, [this] { return !told_.empty() || !deadlines_.empty(); });
    } else {
      changed_.wait_until(lock, stop, deadlines_.begin()->first, [this, first = deadlines_.begin()->first] {
        return !told_.empty() || deadlines_.empty() || deadlines_.begin()->first < first;
      });
    }
  }
}

void ResultDesk::look(std::uint64_t number, bool over) {
  InstanceId id;
  {
    const std::scoped_lock lock(mutex_);
    const auto place = places_.find(number);
    if (place == places_.end()) return;
    id = place->second.id;
  }
  Result<std::optional<InstanceRow>> row = coordinator_.store().find_instance(id);
  const bool rests = row && *row && (is_final((*row)->status) || (*row)->status == Status::suspended);
  if (row && *row && !rests && !over) return;
  Place place;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    deadlines_.erase({found->second.until, number});
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
