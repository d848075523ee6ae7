#include "cairn/worker.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "worker/api_client.h"

namespace cairn {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr std::size_t reports_max = 256;
constexpr milliseconds call_timeout{30'000};
constexpr milliseconds pause_min{100};
constexpr milliseconds pause_max{10'000};
// How much work is leased ahead: what the threads do in this time. A question takes some of it; a run that waits here
// longer could have been somebody else's.
constexpr std::chrono::duration<double, std::milli> ahead{50};
constexpr double ahead_max = 256;
// Questions that wait at the server at once while handlers are quick. A run that is written while somebody waits for it
// begins leased and costs no commit more; with one question only, nobody would wait while its answer is on the way.
constexpr std::size_t questions_max = 6;
// Requests with reports under way at once: what is done while one waits for the server's disk does not wait for it too.
constexpr std::size_t reporters = 2;

// A run that this worker holds.
struct Held {
  Work work;
  std::uint64_t fence = 0;
  milliseconds lease{0};
  SteadyTime lease_ends;
  SteadyTime beat_at;
  std::stop_source stop;

  // From now on; a heartbeat is due when a third of it is over.
  void extend(milliseconds length) {
    lease_ends = std::chrono::steady_clock::now() + length;
    beat_at = std::chrono::steady_clock::now() + length / 3;
  }
};

std::string text(milliseconds length) { return std::to_string(length.count()) + "ms"; }

Json report_of(const Held& held, const WorkDone& done) {
  Json report = Json::object({{"id", held.work.run.value}, {"fence", static_cast<std::int64_t>(held.fence)}});
  if (!done.failure) {
    report.set("result", done.result);
    return report;
  }
  const bool known = done.failure->failure_class != FailureClass::definition &&
                     done.failure->failure_class != FailureClass::expression;
  report.set("error", Json::object({{"class", known ? to_string(done.failure->failure_class) : "business"},
                                    {"code", done.failure->code},
                                    {"message", done.failure->message},
                                    {"details", done.failure->details}}));
  report.set("retry", done.retry);
  if (done.retry_after) report.set("delay", text(milliseconds(done.retry_after->ms_up())));
  return report;
}

}  // namespace

struct Worker::Parts {
  explicit Parts(WorkerOptions given)
      : options(std::move(given)),
        name(options.name + "-" + new_uuid(SystemClock().now()).substr(24)),
        polls(options.server, options.token, options.ca_file),
        calls(options.server, options.token, options.ca_file) {}

  WorkerOptions options;
  std::string name;
  std::map<std::string, WorkHandler> handlers;
  worker::ApiClient polls;  // of its own, so that stopping ends the question that is waiting
  worker::ApiClient calls;

  std::mutex mutex;
  // Each thread is woken for what it waits for: a handler that is done would else wake all of them.
  std::condition_variable room_changed;  // for questions
  std::condition_variable work_came;
  std::condition_variable report_came;
  std::condition_variable beat_sooner;
  std::condition_variable held_changed;               // for stopping
  std::map<std::string, std::shared_ptr<Held>> held;  // shared with the thread that works on it
  std::deque<std::shared_ptr<Held>> ready;
  std::deque<std::pair<std::shared_ptr<Held>, Json>> reports;
  std::size_t undone = 0;                                            // of those held: no handler has finished them
  std::size_t questions = 0;                                         // that wait at the server
  std::size_t wanted = 0;                                            // runs, by all of them
  std::optional<std::chrono::duration<double, std::milli>> handled;  // how long a handler takes, the last ones more
  bool came = false;  // new ones, since the heartbeats were last looked at
  bool started = false;
  bool stopping = false;  // nothing new
  bool halted = false;    // the rest of the threads too
  std::vector<std::jthread> threads;

  Json question(std::size_t max) const {
    Json asked = Json::object({{"worker", name},
                               {"max", static_cast<std::int64_t>(std::min<std::size_t>(max, 1000))},
                               {"wait", text(options.poll)},
                               {"lease", text(options.lease)}});
    Json types = Json::array();
    Json prefixes = Json::array();
    for (const auto& [type, handler] : handlers) (type.ends_with('.') ? prefixes : types).push_back(type);
    if (!options.prefixes.empty()) {
      types = Json::array();
      prefixes = Json::array();
      for (const std::string& prefix : options.prefixes) prefixes.push_back(prefix);
    }
    if (types.size() > 0) asked.set("types", types);
    if (prefixes.size() > 0) asked.set("prefixes", prefixes);
    return asked;
  }

  // Runs to have in hand at once: one for each thread, and ahead of them as many as are quickly done.
  std::size_t capacity() const {
    if (!handled) return options.threads;
    const double quick = static_cast<double>(options.threads) * ahead.count() / std::max(handled->count(), 0.001);
    return options.threads + static_cast<std::size_t>(std::min(quick, ahead_max));
  }

  // What one more question may ask for; nothing while enough are under way.
  std::size_t room() const {
    const std::size_t most = capacity() > options.threads ? questions_max : 1;
    // What is done and only has to be reported takes nobody's time any more. If it counted, nobody would wait at the
    // server when the commit of the reports makes the next runs, and each would cost a lease of its own.
    const std::size_t taken = undone + wanted;
    if (questions >= most || taken >= capacity()) return 0;
    const std::size_t others = most - questions - 1;  // that may come after it
    return (capacity() - taken + others) / (others + 1);
  }

  void lease() {
    milliseconds pause = pause_min;
    std::unique_lock lock(mutex);
    for (;;) {
      room_changed.wait(lock, [this] { return stopping || room() > 0; });
      if (stopping) return;
      const std::size_t max = room();
      ++questions;
      wanted += max;
      if (room() > 0) room_changed.notify_one();
      lock.unlock();
      const auto answer = polls.post("/v1/runs/lease", question(max), options.poll + milliseconds(15'000));
      lock.lock();
      --questions;
      wanted -= max;
      if (!answer || !answer->ok()) {
        if (stopping) return;
        const std::string why =
            answer ? std::to_string(answer->status) + " " + std::string(answer->document.text_or("detail", ""))
                   : answer.error().message;
        log_warning("worker.lease_failed", {{"message", why}});
        room_changed.wait_for(lock, pause, [this] { return stopping; });
        pause = std::min(pause * 2, pause_max);
        continue;
      }
      pause = pause_min;
      const Json& items = answer->document["items"];
      if (!items.is_array()) continue;
      for (const Json& item : items.items()) {
        take(item);
        work_came.notify_one();
      }
      beat_sooner.notify_one();
    }
  }

  void take(const Json& item) {
    const auto number = [&item](std::string_view member) {
      return item[member].is_integer() ? item[member].as_integer() : 0;
    };
    auto run = std::make_shared<Held>();
    run->fence = static_cast<std::uint64_t>(number("fence"));
    run->lease = milliseconds(number("lease_ms"));
    run->extend(run->lease);
    const std::string id(item.text_or("id", ""));
    run->work = {{id},
                 std::string(item.text_or("type", "")),
                 std::string(item.text_or("idempotency_key", id)),
                 item["payload"],
                 static_cast<int>(number("attempt")),
                 static_cast<int>(number("max_attempts")),
                 run->stop.get_token(),
                 {},
                 std::string(item.text_or("traceparent", ""))};
    if (item["instance"].is_string()) run->work.instance = InstanceId{std::string(item["instance"].as_string())};
    held[id] = run;
    ++undone;
    came = true;
    ready.push_back(std::move(run));
  }

  const WorkHandler* find(const std::string& type) const {
    const auto exact = handlers.find(type);
    if (exact != handlers.end()) return &exact->second;
    const WorkHandler* longest = nullptr;
    std::size_t length = 0;
    for (const auto& [prefix, handler] : handlers) {
      if (!prefix.ends_with('.') || !type.starts_with(prefix) || prefix.size() < length) continue;
      longest = &handler;
      length = prefix.size();
    }
    return longest;
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      work_came.wait(lock, [this] { return stopping || !ready.empty(); });
      if (ready.empty()) return;
      const std::shared_ptr<Held> run = std::move(ready.front());
      ready.pop_front();
      const WorkHandler* const handler = find(run->work.type);
      lock.unlock();
      const SteadyTime began = std::chrono::steady_clock::now();
      WorkDone done = Json();
      if (handler == nullptr) {
        done = Failure{FailureClass::transport, "no_handler_registered", "", Json(), 1, "", ""};
        done.retry = false;
      } else {
        try {
          done = (*handler)(run->work);
        } catch (const std::exception& thrown) {
          done = Failure{FailureClass::transport, "handler_threw", thrown.what(), Json(), 1, "", ""};
        }
      }
      Json report = report_of(*run, done);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
      lock.lock();
      --undone;
      // A slow one counts at once, a quick one little by little.
      handled = !handled || took > *handled ? took : *handled * 0.9 + took * 0.1;
      if (run->stop.stop_requested()) {
        forget(*run);  // nobody waits for it
      } else {
        reports.emplace_back(run, std::move(report));
        report_came.notify_one();
      }
      if (room() > 0) room_changed.notify_one();
    }
  }

  void forget(const Held& run) {
    const auto found = held.find(run.work.run.value);
    if (found != held.end() && found->second->fence == run.fence) held.erase(found);
    if (held.empty()) held_changed.notify_all();
  }

  // What finishes while a request is under way goes into the next one together.
  void report() {
    milliseconds pause = pause_min;
    std::unique_lock lock(mutex);
    for (;;) {
      report_came.wait(lock, [this] { return halted || !reports.empty(); });
      if (reports.empty()) return;
      std::vector<std::pair<std::shared_ptr<Held>, Json>> batch;
      while (!reports.empty() && batch.size() < reports_max) {
        batch.push_back(std::move(reports.front()));
        reports.pop_front();
      }
      Json list = Json::array();
      for (const auto& [run, report] : batch) list.push_back(report);
      lock.unlock();
      const auto answer =
          calls.post("/v1/runs/report", Json::object({{"worker", name}, {"reports", list}}), call_timeout);
      lock.lock();
      const bool again = !answer || answer->status >= 500 || answer->status == 429;
      if (!again) {
        pause = pause_min;
        if (!answer->ok()) log_warning("worker.report_refused", {{"message", answer->document.text_or("detail", "")}});
        for (const auto& [run, report] : batch) forget(*run);
        continue;
      }
      log_warning("worker.reports_wait",
                  {{"message", answer ? std::to_string(answer->status) : answer.error().message}});
      // Work that is done is not thrown away because the server is away for a moment.
      const SteadyTime now = std::chrono::steady_clock::now();
      for (auto& entry : batch) {
        if (now < entry.first->lease_ends && !halted) {
          reports.push_back(std::move(entry));
        } else {
          forget(*entry.first);
        }
      }
      report_came.wait_for(lock, pause, [this] { return halted; });
      pause = std::min(pause * 2, milliseconds(2000));
    }
  }

  void keep_alive() {
    std::unique_lock lock(mutex);
    while (!halted) {
      SteadyTime next = std::chrono::steady_clock::now() + std::chrono::hours(1);
      for (const auto& [id, run] : held) next = std::min(next, run->beat_at);
      // A new run may have a shorter lease than all the others: its coming ends the wait.
      beat_sooner.wait_until(lock, next, [this] { return halted || came; });
      came = false;
      std::vector<std::shared_ptr<Held>> due;
      for (const auto& [id, run] : held) {
        if (run->beat_at <= std::chrono::steady_clock::now()) due.push_back(run);
      }
      lock.unlock();
      for (const auto& run : due) beat(*run);
      lock.lock();
    }
  }

  void beat(Held& run) {
    const auto answer = calls.post(
        "/v1/runs/" + run.work.run.value + "/heartbeat",
        Json::object({{"fence", static_cast<std::int64_t>(run.fence)}, {"worker", name}, {"lease", text(run.lease)}}),
        call_timeout);
    std::unique_lock lock(mutex);
    const SteadyTime now = std::chrono::steady_clock::now();
    bool lost = answer && (answer->status == 403 || answer->status == 404 || answer->status == 409);
    if (answer && answer->ok()) {
      const Json& lease_ms = answer->document["lease_ms"];
      run.extend(milliseconds(lease_ms.is_integer() ? lease_ms.as_integer() : 0));
      lost = answer->document["cancelled"] == Json(true);
    } else {
      run.beat_at = now + run.lease / 6;
      lost = lost || now >= run.lease_ends;
    }
    if (!lost) return;
    // Not ours any more: whatever the handler still does is in vain.
    run.beat_at = SteadyTime::max();
    lock.unlock();
    run.stop.request_stop();
  }
};

Worker::Worker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Worker::~Worker() { stop(); }

Result<std::unique_ptr<Worker>> Worker::open(WorkerOptions options) {
  if (!options.server.starts_with("http://") && !options.server.starts_with("https://")) {
    return Error{ErrorCode::invalid,
                 "the server's URL begins with http:// or https://, not \"" + options.server + "\""};
  }
  return std::unique_ptr<Worker>(new Worker(std::make_unique<Parts>(std::move(options))));
}

const std::string& Worker::name() const { return parts_->name; }

void Worker::handle(const std::string& type, WorkHandler handler) { parts_->handlers[type] = std::move(handler); }

void Worker::start() {
  Parts& parts = *parts_;
  if (parts.started) return;
  parts.started = true;
  for (std::size_t i = 0; i < questions_max; ++i) parts.threads.emplace_back([&parts] { parts.lease(); });
  for (std::size_t i = 0; i < reporters; ++i) parts.threads.emplace_back([&parts] { parts.report(); });
  parts.threads.emplace_back([&parts] { parts.keep_alive(); });
  for (std::size_t i = 0; i < parts.options.threads; ++i) parts.threads.emplace_back([&parts] { parts.work(); });
}

void Worker::stop(milliseconds grace) {
  Parts& parts = *parts_;
  std::deque<std::shared_ptr<Held>> unbegun;
  {
    const std::lock_guard lock(parts.mutex);
    if (parts.stopping) return;
    parts.stopping = true;
    unbegun.swap(parts.ready);
    parts.undone -= unbegun.size();
    parts.room_changed.notify_all();
    parts.work_came.notify_all();
  }
  parts.polls.stop();
  for (const auto& run : unbegun) {
    const auto released = parts.calls.post(
        "/v1/runs/" + run->work.run.value + "/release",
        Json::object({{"fence", static_cast<std::int64_t>(run->fence)}, {"worker", parts.name}}), call_timeout);
    if (!released) log_warning("worker.release_failed", {{"message", released.error().message}});
    const std::lock_guard lock(parts.mutex);
    parts.forget(*run);
  }
  std::vector<std::shared_ptr<Held>> late;
  {
    std::unique_lock lock(parts.mutex);
    parts.held_changed.wait_for(lock, grace, [&parts] { return parts.held.empty(); });
    for (const auto& [id, run] : parts.held) late.push_back(run);
    parts.halted = true;
    parts.report_came.notify_all();
    parts.beat_sooner.notify_all();
  }
  for (const auto& run : late) run->stop.request_stop();
  parts.threads.clear();
  parts.calls.stop();
}

}  // namespace cairn
