#include "coordinator/lease_desk.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/log.h"

namespace cairn {

LeaseDesk::LeaseDesk(Store& store) : store_(store) {}

LeaseDesk::~LeaseDesk() { stop(); }

void LeaseDesk::ask(LeaseRequest request, std::chrono::milliseconds wait, Answer answer, Listening listening) {
  // Those who wait already have an older claim on what is there.
  if (wait.count() <= 0 || waiting() == 0) {
    auto leased = store_.lease_runs(request);
    if (!leased || !leased->empty() || wait.count() <= 0) return answer(std::move(leased));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && waiting_.size() < waiting_max) {
      waiting_.push_back(
          {std::move(request), std::chrono::steady_clock::now() + wait, std::move(answer), std::move(listening)});
      // Once more from the line: what was written since the look above was told to nobody.
      look_ = true;
      if (!thread_.joinable()) thread_ = std::jthread([this] { run(); });
      changed_.notify_one();
      return;
    }
    if (!stopping_) return answer(Error{ErrorCode::limit, "too many workers wait for runs already"});
  }
  answer(std::vector<RunRow>());
}

void LeaseDesk::look() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() && serving_ == 0) return;
  look_ = true;
  changed_.notify_one();
}

std::size_t LeaseDesk::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + serving_;
}

void LeaseDesk::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  // Nobody starts it any more.
  if (thread_.joinable()) thread_.join();
}

void LeaseDesk::serve(Places& places, Places& answered) {
  // Which questions have been answered with less than was asked for: nothing is left for their like.
  std::set<std::tuple<std::vector<std::string>, std::vector<std::string>>> drained;
  for (auto place = places.begin(); place != places.end();) {
    const auto next = std::next(place);
    const auto question = std::tuple(place->request.prefixes, place->request.types);
    if (place->listening && !place->listening()) {
      place->answer(std::vector<RunRow>());
      answered.splice(answered.end(), places, place);
    } else if (!drained.contains(question)) {
      auto leased = store_.lease_runs(place->request);
      if (!leased || leased->size() < place->request.max) drained.insert(question);
      if (!leased) log_error("runs.lease", leased.error());
      if (!leased || !leased->empty()) {
        place->answer(std::move(leased));
        answered.splice(answered.end(), places, place);
      }
    }
    place = next;
  }
}

void LeaseDesk::end_overdue() {
  Places over;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      const auto next = std::next(place);
      if (stopping_ || place->until <= now) over.splice(over.end(), waiting_, place);
      place = next;
    }
  }
  for (Place& place : over) place.answer(std::vector<RunRow>());
}

void LeaseDesk::run() {
  for (;;) {
    Places serving;
    {
      std::unique_lock lock(mutex_);
      const auto woken = [this] { return stopping_ || look_; };
      const auto earliest = std::min_element(waiting_.begin(), waiting_.end(),
                                             [](const Place& a, const Place& b) { return a.until < b.until; });
      if (earliest == waiting_.end()) {
        changed_.wait(lock, woken);
      } else {
        changed_.wait_until(lock, earliest->until, woken);
      }
      if (look_ && !stopping_) {
        look_ = false;
        serving.swap(waiting_);
        serving_ = serving.size();
      }
    }
    Places answered;
    serve(serving, answered);
    {
      const std::lock_guard lock(mutex_);
      waiting_.splice(waiting_.begin(), serving);
      serving_ = 0;
    }
    end_overdue();
    const std::lock_guard lock(mutex_);
    if (stopping_ && waiting_.empty()) return;
  }
}

}  // namespace cairn
