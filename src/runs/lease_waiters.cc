#include "runs/lease_waiters.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "base/limit_refusals.h"
#include "base/log.h"
#include "store/lease_order.h"

namespace cairn {

namespace {

// After an empty result, the same question is not asked again for this long, however many workers ask. Every change
// that makes a run ready calls `look`; this limit bounds the cost of a lost notification.
constexpr std::chrono::seconds drained_for{1};

// How many runs of unknown size are leased at first. Later the size of the last ones tells how many fit: a store that
// cannot stop at the limit would read many large runs only to release them.
constexpr std::size_t first_leased_max = 16;

}  // namespace

LeaseWaiters::LeaseWaiters(RunStore& store, std::size_t waiting_max) : store_(store), waiting_max_(waiting_max) {}

LeaseWaiters::~LeaseWaiters() { stop(); }

void LeaseWaiters::ask(LeaseRequest request, std::chrono::milliseconds wait, Done<Result<std::vector<RunRow>>> done,
                       Listening listening) {
  const Question question = question_of(request);
  bool ask_store = wait.count() <= 0;
  Looks asked_at = 0;
  {
    const std::lock_guard lock(mutex_);
    asked_at = looks_;
    // Requests that wait already are served first.
    ask_store = ask_store || (waiting_.empty() && serving_ == 0 && !is_drained(question));
  }
  // A client that disconnected while the request waited for a thread gets nothing.
  if (listening && !listening()) return done(std::vector<RunRow>());
  if (ask_store) {
    Leased leased = lease(request);
    if (leased.error) return done(std::move(*leased.error));
    if (!leased.runs.empty() || wait.count() <= 0) return done(std::move(leased.runs));
    note_drained(question, asked_at);
  }
  Result<std::vector<RunRow>> answer = std::vector<RunRow>();
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && waiting_.size() < waiting_max_) {
      waiting_.push_back(
          {std::move(request), std::chrono::steady_clock::now() + wait, std::move(done), std::move(listening)});
      if (!thread_.joinable()) thread_ = std::jthread([this] { run(); });
      // The query ran before the request joined the line, so it may have missed a notification.
      if (!is_drained(question)) look_ = true;
      if (waiting_.back().until < sleeps_until_) sooner_ = true;
      if (look_ || sooner_) changed_.notify_one();
      return;
    }
    if (!stopping_) {
      answer = overload_error("limits.lease_waiters_max", static_cast<std::int64_t>(waiting_max_),
                              "too many workers wait for runs");
    }
  }
  done(std::move(answer));
}

LeaseWaiters::Question LeaseWaiters::question_of(const LeaseRequest& request) {
  return {request.prefixes, request.types};
}

std::vector<RunRow> LeaseWaiters::within_bytes(const LeaseRequest& request, std::vector<RunRow> runs) {
  std::size_t bytes = 0, fitting = 0;
  while (fitting < runs.size() && bytes < request.bytes_max) bytes += lease_bytes(request, runs[fitting++]);
  const auto rest = runs.begin() + static_cast<std::ptrdiff_t>(fitting);
  if (rest != runs.end()) give_back({rest, runs.end()});
  runs.erase(rest, runs.end());
  return runs;
}

LeaseWaiters::Leased LeaseWaiters::lease(const LeaseRequest& request) {
  const Question question = question_of(request);
  Leased answer;
  std::size_t bytes = 0;
  while (answer.runs.size() < request.max && bytes < request.bytes_max) {
    LeaseRequest part = request;
    part.max = request.max - answer.runs.size();
    part.bytes_max = request.bytes_max - bytes;
    part.max = std::min(part.max, expected_to_fit(question, part.bytes_max));
    auto leased = store_.lease_runs(part);
    if (!leased) {
      if (answer.runs.empty()) answer.error = std::move(leased).error();
      return answer;
    }
    const std::size_t count = leased->size();
    std::vector<RunRow> fitting = within_bytes(part, std::move(*leased));
    std::size_t part_bytes = 0;
    for (const RunRow& run : fitting) part_bytes += lease_bytes(request, run);
    if (!fitting.empty()) note_size(question, part_bytes / fitting.size());
    std::move(fitting.begin(), fitting.end(), std::back_inserter(answer.runs));
    bytes += part_bytes;
    if (count < part.max && bytes < request.bytes_max) return answer;  // the store has nothing left
  }
  answer.more = true;
  return answer;
}

std::size_t LeaseWaiters::expected_to_fit(const Question& question, std::size_t bytes) const {
  if (bytes == std::numeric_limits<std::size_t>::max()) return bytes;
  const std::lock_guard lock(mutex_);
  const auto size = sizes_.find(question);
  return size == sizes_.end() ? first_leased_max : bytes / std::max<std::size_t>(size->second, 1) + 1;
}

void LeaseWaiters::note_size(const Question& question, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (sizes_.size() >= waiting_max_) sizes_.clear();
  sizes_[question] = bytes;
}

LeaseWaiters::Looks LeaseWaiters::looks() const {
  const std::lock_guard lock(mutex_);
  return looks_;
}

bool LeaseWaiters::is_drained(const Question& question) const {
  const auto found = drained_.find(question);
  return found != drained_.end() && std::chrono::steady_clock::now() < found->second + drained_for;
}

void LeaseWaiters::note_drained(Question question, Looks asked_at) {
  const std::lock_guard lock(mutex_);
  if (asked_at != looks_) return;
  if (drained_.size() >= waiting_max_) drained_.clear();
  drained_[std::move(question)] = std::chrono::steady_clock::now();
}

std::shared_ptr<LeaseWaiters::Promise> LeaseWaiters::promise(std::span<const std::string> types) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || types.empty()) return nullptr;
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    Place& place = *at;
    // A request with runs is answered as soon as its remaining promises are resolved.
    if (!place.kept.empty() || place.promised + types.size() > place.request.max) continue;
    const bool asked = std::all_of(types.begin(), types.end(), [&place](const std::string& type) {
      return line_of(place.request, type).has_value();
    });
    if (!asked || (place.listening && !place.listening())) continue;
    place.promised += types.size();
    auto promise = std::make_shared<Promise>();
    promise->waiters_ = this;
    promise->place_ = at;
    promise->open_ = types.size();
    promise->lease_ = {place.request.worker, place.request.length, {types.begin(), types.end()}};
    return promise;
  }
  return nullptr;
}

void LeaseWaiters::Promise::keep(RunRow run) {
  Places complete;
  {
    const std::lock_guard lock(waiters_->mutex_);
    --open_;
    --place_->promised;
    place_->kept.push_back(std::move(run));
    complete = waiters_->take_complete(place_);
  }
  for (Place& place : complete) waiters_->hand_out(place);
}

LeaseWaiters::Promise::~Promise() {
  if (open_ == 0) return;
  Places complete;
  {
    const std::lock_guard lock(waiters_->mutex_);
    place_->promised -= open_;
    complete = waiters_->take_complete(place_);
  }
  for (Place& place : complete) waiters_->hand_out(place);
}

void LeaseWaiters::hand_out(Place& place) { place.done(within_bytes(place.request, std::move(place.kept))); }

LeaseWaiters::Places LeaseWaiters::take_complete(Places::iterator place) {
  Places ready;
  if (place->promised > 0) return ready;
  if (!place->kept.empty()) {
    ready.splice(ready.end(), waiting_, place);
    if (stopping_) changed_.notify_one();
  } else {
    // The request was skipped while it had a promise.
    look_ = true;
    changed_.notify_one();
  }
  return ready;
}

void LeaseWaiters::give_back(std::span<const RunRow> runs) {
  const std::lock_guard lock(mutex_);
  for (const RunRow& run : runs) {
    RunChange release;
    release.kind = RunChange::Kind::release;
    release.run = run.id;
    release.fence = run.fence;
    release.actor = run.leased_by;
    returned_.push_back(std::move(release));
  }
  if (!thread_.joinable() && !stopping_) thread_ = std::jthread([this] { run(); });
  changed_.notify_one();
}

void LeaseWaiters::release(const std::vector<RunChange>& returned) {
  const auto answers = store_.change_runs(returned);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // Its lease will expire.
    if (!answers[i]) log_error("runs.release", answers[i].error(), {{"run", returned[i].run.value}});
  }
}

void LeaseWaiters::look() {
  const std::lock_guard lock(mutex_);
  ++looks_;
  drained_.clear();
  if (waiting_.empty() && serving_ == 0) return;
  look_ = true;
  changed_.notify_one();
}

std::size_t LeaseWaiters::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + serving_;
}

void LeaseWaiters::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  // No other thread can start it any more.
  if (thread_.joinable()) thread_.join();
  std::vector<RunChange> returned;
  {
    const std::lock_guard lock(mutex_);
    returned.swap(returned_);
  }
  if (!returned.empty()) release(returned);
}

void LeaseWaiters::serve(Places& places, Places& answered) {
  // Questions that returned less than requested: the store has nothing left for equal ones.
  std::set<Question> drained;
  for (auto place = places.begin(); place != places.end();) {
    const auto next = std::next(place);
    const Question question = question_of(place->request);
    if (place->listening && !place->listening()) {
      place->done(std::vector<RunRow>());
      answered.splice(answered.end(), places, place);
    } else if (!drained.contains(question)) {
      const Looks asked_at = looks();
      Leased leased = lease(place->request);
      if (!leased.more) drained.insert(question);
      // A partial result may come from a concurrency limit. Only an empty result tells when more will be ready.
      if (!leased.error && leased.runs.empty()) note_drained(question, asked_at);
      if (leased.error) log_error("runs.lease", *leased.error);
      if (leased.error || !leased.runs.empty()) {
        place->done(leased.error ? Result<std::vector<RunRow>>(std::move(*leased.error)) : std::move(leased.runs));
        answered.splice(answered.end(), places, place);
      }
    }
    place = next;
  }
}

void LeaseWaiters::end_overdue() {
  Places over;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      const auto next = std::next(place);
      if ((stopping_ || place->until <= now) && place->promised == 0 && place->kept.empty())
        over.splice(over.end(), waiting_, place);
      place = next;
    }
  }
  for (Place& place : over) place.done(std::vector<RunRow>());
}

bool LeaseWaiters::is_promised() const {
  return std::any_of(waiting_.begin(), waiting_.end(), [](const Place& place) { return place.promised > 0; });
}

void LeaseWaiters::run() {
  for (;;) {
    Places serving;
    std::vector<RunChange> returned;
    {
      std::unique_lock lock(mutex_);
      const auto woken = [this] { return !returned_.empty() || (stopping_ ? !is_promised() : look_ || sooner_); };
      // A request with open promises does not expire before they are resolved.
      const auto earliest = std::min_element(waiting_.begin(), waiting_.end(), [](const Place& a, const Place& b) {
        return std::pair(a.promised > 0, a.until) < std::pair(b.promised > 0, b.until);
      });
      if (earliest == waiting_.end() || earliest->promised > 0) {
        sleeps_until_ = std::chrono::steady_clock::time_point::max();
        changed_.wait(lock, woken);
      } else {
        sleeps_until_ = earliest->until;
        changed_.wait_until(lock, sleeps_until_, woken);
      }
      sleeps_until_ = std::chrono::steady_clock::time_point::min();  // awake: it will check all deadlines
      sooner_ = false;
      returned.swap(returned_);
      if (look_ && !stopping_) {
        look_ = false;
        for (auto place = waiting_.begin(); place != waiting_.end();) {
          const auto next = std::next(place);
          if (place->promised == 0 && place->kept.empty()) serving.splice(serving.end(), waiting_, place);
          place = next;
        }
        serving_ = serving.size();
      }
    }
    if (!returned.empty()) release(returned);
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
