#include "cairn/worker.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/storable_text.h"
#include "worker/api_client.h"

namespace cairn {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// Limits of one request with reports: this many reports, and this many bytes unless a single report is larger.
constexpr std::size_t reports_max = 256;
constexpr std::size_t report_bytes_max = 1u << 20;
// A heartbeat without an answer after a sixth of the lease is sent again on another connection. A second thread sends
// the heartbeats that fall due while the first one waits.
constexpr std::size_t heartbeaters = 2;
constexpr std::size_t heartbeats_max = 1000;
constexpr milliseconds heartbeat_timeout_min{500};
// The server answers a cancelled poll at once, unless it is unreachable.
constexpr milliseconds poll_end_max{5'000};
// If the connection breaks this often for a large report, while heartbeats succeed, the server does not accept the
// report.
constexpr int broken_max = 5;
// The parts of a failure that are reported again if the server refuses the whole, in bytes.
constexpr std::size_t code_bytes_max = 200;
constexpr std::size_t short_message_bytes_max = 200;
constexpr milliseconds call_timeout{30'000};
constexpr milliseconds pause_min{100};
constexpr milliseconds pause_max{10'000};
// The worker leases as many runs ahead as its threads finish in this time. A poll takes part of this time. Runs that
// wait here longer could have been leased by another worker.
constexpr std::chrono::duration<double, std::milli> ahead{50};
constexpr double ahead_max = 256;
// Polls that wait at the server at the same time while handlers are fast. A run written while a poll waits starts out
// leased and needs no extra commit. With a single poll, no poll would wait while its answer is in transit.
constexpr std::size_t questions_max = 6;
constexpr std::size_t most_leased = 1000;  // by one poll
// Concurrent requests with reports. A finished run need not wait until the server has synced the previous reports.
constexpr std::size_t reporters = 2;

constexpr const char* every_type = "*";  // its handler takes the runs that have no closer one

// The prefixes of the environment; empty: none. A value may be written as in SQL: `billing.%`.
std::vector<std::string> prefixes_of_environment() {
  std::vector<std::string> prefixes;
  for (const char* name : {"CAIRN_WORKER_TYPE_PREFIXES", "WORKER_TYPE_PREFIXES"}) {
    const char* const value = std::getenv(name);
    std::string_view rest = value != nullptr ? value : "";
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string_view prefix = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      while (prefix.starts_with(' ')) prefix.remove_prefix(1);
      while (prefix.ends_with(' ') || prefix.ends_with('%')) prefix.remove_suffix(1);
      if (!prefix.empty()) prefixes.emplace_back(prefix);
    }
    if (!prefixes.empty()) break;
  }
  return prefixes;
}

// A run leased by this worker.
struct Held {
  Work work;
  std::uint64_t fence = 0;
  milliseconds lease{0};
  SteadyTime lease_ends;
  SteadyTime beat_at;
  std::stop_source stop;

  // Extends the lease from now on. A heartbeat is due after a third of it.
  void extend(milliseconds length) {
    lease_ends = std::chrono::steady_clock::now() + length;
    beat_at = std::chrono::steady_clock::now() + length / 3;
  }
};

milliseconds heartbeat_timeout(milliseconds lease) { return std::max(lease / 6, heartbeat_timeout_min); }

// True if the server refuses this request permanently. Other statuses may succeed later: 401 and 403 after a change of
// keys, 429 and 5xx after the server has recovered.
bool is_refusal(int status) { return status == 400 || status == 413 || status == 422; }

std::string text(milliseconds length) { return std::to_string(length.count()) + "ms"; }

Json report_of(const Held& held, const WorkDone& done, std::size_t message_bytes_max, const Json& details) {
  Json report = Json::object({{"id", held.work.run.value}, {"fence", static_cast<std::int64_t>(held.fence)}});
  if (!done.failure) {
    report.set("result", done.result);
    return report;
  }
  // The other two are classes of the engine.
  const bool known = done.failure->failure_class != FailureClass::definition &&
                     done.failure->failure_class != FailureClass::expression;
  report.set("error", Json::object({{"class", known ? to_string(done.failure->failure_class) : "business"},
                                    {"code", storable_text(done.failure->code, code_bytes_max)},
                                    {"message", storable_text(done.failure->message, message_bytes_max)},
                                    {"details", details}}));
  report.set("retry", done.retry);
  if (done.retry_after) report.set("delay", text(milliseconds(done.retry_after->ms_up())));
  return report;
}

// A finished attempt and its report to the server, as JSON. A failure also has a brief report without details, for a
// server that refuses the whole.
struct Report {
  std::shared_ptr<Held> run;
  std::string text;
  std::string brief = {};
};

Report report_of(const std::shared_ptr<Held>& run, const WorkDone& done) {
  Report report{run,
                write_json(report_of(*run, done, std::string::npos, done.failure ? done.failure->details : Json()))};
  if (done.failure) report.brief = write_json(report_of(*run, done, short_message_bytes_max, Json()));
  return report;
}

// The handler is user code: an exception fails the attempt.
WorkDone answer_of(const WorkHandler& handler, const Work& work) {
  const auto failed = [](const std::string& why) {
    return WorkDone(Failure{FailureClass::transport, "handler_threw", why, Json(), 1, "", ""});
  };
  try {
    return handler(work);
  } catch (const std::exception& thrown) {
    return failed(thrown.what());
  } catch (...) {
    return failed("the handler threw an exception that is not a std::exception");
  }
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
  worker::ApiClient polls;  // a separate client, so that stopping cancels only the polls
  worker::ApiClient calls;

  std::mutex mutex;
  // Each kind of thread has its own condition. One shared condition would wake all threads after every handler.
  std::condition_variable room_changed;  // for polls
  std::condition_variable work_came;
  std::condition_variable report_came;
  std::condition_variable beat_sooner;
  std::condition_variable held_changed;               // for stopping
  std::map<std::string, std::shared_ptr<Held>> held;  // shared with the thread that runs the handler
  std::deque<std::shared_ptr<Held>> ready;
  std::deque<Report> reports;
  std::size_t undone = 0;                // held runs without a finished handler
  std::size_t questions = 0;             // polls that wait at the server
  std::size_t wanted = 0;                // runs requested by all polls
  std::size_t leased_max = most_leased;  // by one poll: fewer after an answer that was too large
  std::optional<std::chrono::duration<double, std::milli>> handled;  // moving average of the handlers' duration
  bool came = false;  // new runs arrived since the heartbeat thread last looked
  bool started = false;
  bool stopping = false;  // no new work is accepted
  bool halted = false;    // the remaining threads end too
  std::vector<std::jthread> threads;

  Json question(std::size_t max) const {
    Json asked = Json::object({{"worker", name},
                               {"max", static_cast<std::int64_t>(max)},
                               {"wait", text(options.poll)},
                               {"lease", text(options.lease)}});
    Json types = Json::array();
    Json prefixes = Json::array();
    for (const auto& [type, handler] : handlers) {
      if (type != every_type) (type.ends_with('.') ? prefixes : types).push_back(type);
    }
    if (types.size() + prefixes.size() == 0) prefixes.push_back("default.");
    if (!options.prefixes.empty()) {
      types = Json::array();
      prefixes = Json::array();
      for (const std::string& prefix : options.prefixes) prefixes.push_back(prefix);
    }
    if (types.size() > 0) asked.set("types", types);
    if (prefixes.size() > 0) asked.set("prefixes", prefixes);
    return asked;
  }

  // How many runs to hold at once: one per thread, and more if handlers are fast.
  std::size_t capacity() const {
    if (!handled) return options.threads;
    const double quick = static_cast<double>(options.threads) * ahead.count() / std::max(handled->count(), 0.001);
    return options.threads + static_cast<std::size_t>(std::min(quick, ahead_max));
  }

  // How many runs one more poll may request; zero while enough are requested.
  std::size_t room() const {
    const std::size_t most = capacity() > options.threads ? questions_max : 1;
    // Runs that only wait for their report do not count. If they counted, no poll would wait at the server when the
    // commit of the reports creates the next runs, and each of those would need a separate lease.
    const std::size_t taken = undone + wanted;
    if (questions >= most || taken >= capacity()) return 0;
    const std::size_t others = most - questions - 1;  // polls that may follow
    return (capacity() - taken + others) / (others + 1);
  }

  void lease() {
    milliseconds pause = pause_min;
    std::unique_lock lock(mutex);
    for (;;) {
      room_changed.wait(lock, [this] { return stopping || room() > 0; });
      if (stopping) return;
      const std::size_t max = std::min(room(), leased_max);
      ++questions;
      wanted += max;
      if (room() > 0) room_changed.notify_one();
      lock.unlock();
      const auto answer = polls.post("/v1/runs/lease", question(max), options.poll + milliseconds(15'000));
      lock.lock();
      --questions;
      wanted -= max;
      if (questions == 0) held_changed.notify_all();
      if (!answer || !answer->ok()) {
        if (stopping) return;
        const std::string why =
            answer ? std::to_string(answer->status) + " " + std::string(answer->document.text_or("detail", ""))
                   : answer.error().message;
        log_warning("worker.lease_failed", {{"message", why}});
        if (!answer && answer.error().code == ErrorCode::limit) leased_max = std::max<std::size_t>(1, max / 2);
        room_changed.wait_for(lock, pause, [this] { return stopping; });
        pause = std::min(pause * 2, pause_max);
        continue;
      }
      pause = pause_min;
      if (max == leased_max) leased_max = std::min(leased_max + 1, most_leased);
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
    if (longest != nullptr) return longest;
    const auto any = handlers.find(every_type);
    return any == handlers.end() ? nullptr : &any->second;
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      work_came.wait(lock, [this] { return stopping || !ready.empty(); });
      if (stopping) return;  // runs that have not started are released
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
        done = answer_of(*handler, run->work);
      }
      Report report = report_of(run, done);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
      lock.lock();
      --undone;
      // A slow handler raises the average at once; fast ones lower it gradually.
      handled = !handled || took > *handled ? took : *handled * 0.9 + took * 0.1;
      if (run->stop.stop_requested()) {
        forget(*run);  // the run was cancelled or its lease is lost
      } else {
        reports.push_back(std::move(report));
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

  // Runs that finish while a request is in flight are reported together in the next request.
  void report() {
    std::unique_lock lock(mutex);
    for (;;) {
      report_came.wait(lock, [this] { return halted || !reports.empty(); });
      if (reports.empty()) return;
      std::vector<Report> batch;
      std::size_t bytes = 0;
      while (!reports.empty() && batch.size() < reports_max &&
             (batch.empty() || bytes + reports.front().text.size() <= report_bytes_max)) {
        bytes += reports.front().text.size();
        batch.push_back(std::move(reports.front()));
        reports.pop_front();
      }
      std::vector<std::shared_ptr<Held>> runs;
      for (const Report& one : batch) runs.push_back(one.run);
      send(std::move(batch), false, lock);
      for (const auto& run : runs) forget(*run);
    }
  }

  // Sends a batch until the server accepts it or its leases have expired, so that a short outage does not lose finished
  // work. `final`: the reports have no fallback if the server refuses them.
  void send(std::vector<Report> batch, bool final, std::unique_lock<std::mutex>& lock) {
    milliseconds pause = pause_min;
    int broken = 0;
    SteadyTime lease_ends;
    for (const Report& one : batch) lease_ends = std::max(lease_ends, one.run->lease_ends);
    while (!batch.empty()) {
      lock.unlock();
      std::string body = R"({"worker":)" + write_json(Json(name)) + R"(,"reports":[)";
      for (const Report& one : batch) body.append(&one == &batch.front() ? "" : ",").append(one.text);
      const auto answer = calls.post_text("/v1/runs/report", body + "]}", call_timeout);
      lock.lock();
      if (answer && answer->ok()) {
        keep_unreported(batch, answer->document["items"]);
        if (batch.empty()) return;
      } else {
        const std::string why = answer ? said(*answer) : answer.error().message;
        log_warning("worker.reports_wait", {{"message", why}});
        if (!answer) ++broken;
        const Report& first = batch.front();
        const bool untaken = broken >= broken_max && batch.size() == 1 && first.text.size() > report_bytes_max &&
                             first.run->lease_ends > lease_ends;
        if (untaken || (answer && is_refusal(answer->status))) {
          return send_refused(std::move(batch), untaken ? 413 : answer->status, why, final, lock);
        }
      }
      report_came.wait_for(lock, pause, [this] { return halted; });
      pause = std::min(pause * 2, milliseconds(2000));
      const SteadyTime now = std::chrono::steady_clock::now();
      std::erase_if(batch, [&](const Report& one) { return halted || now >= one.run->lease_ends; });
    }
  }

  static std::string said(const worker::ApiAnswer& answer) {
    return std::to_string(answer.status) + " " + std::string(answer.document.text_or("detail", ""));
  }

  // Keeps the reports that the server could not accept now.
  static void keep_unreported(std::vector<Report>& batch, const Json& items) {
    std::map<std::string, const Json*> outcomes;
    if (items.is_array()) {
      for (const Json& item : items.items()) outcomes[std::string(item.text_or("id", ""))] = &item;
    }
    std::erase_if(batch, [&outcomes](const Report& one) {
      const auto found = outcomes.find(one.run->work.run.value);
      const Json item = found == outcomes.end() ? Json() : *found->second;
      if (item["outcome"] == Json("lease_lost")) log_warning("worker.lease_lost", {{"run", one.run->work.run.value}});
      if (item["outcome"] != Json("error")) return true;
      log_warning("worker.report_failed",
                  {{"run", one.run->work.run.value}, {"message", std::string(item.text_or("error", ""))}});
      return item["retryable"] != Json(true);
    });
  }

  // One bad report must not affect the others. A refused failure is reported again without its details. A refused
  // result fails its run: a retry would end the same way.
  void send_refused(std::vector<Report> batch, int status, const std::string& why, bool final,
                    std::unique_lock<std::mutex>& lock) {
    if (batch.size() > 1) {
      const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
      std::vector<Report> rest(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
      batch.erase(middle, batch.end());
      send(std::move(batch), false, lock);
      return send(std::move(rest), false, lock);
    }
    const Report& report = batch.front();
    log_warning("worker.report_refused", {{"run", report.run->work.run.value}, {"message", why}});
    if (final) return;
    std::vector<Report> told;
    if (!report.brief.empty()) {
      told.push_back({report.run, report.brief});
      return send(std::move(told), false, lock);
    }
    WorkDone done = Failure{
        FailureClass::transport,
        status == 413 ? "result_too_large" : "report_refused",
        "the server refused a report of " + std::to_string(report.text.size()) + " bytes: " + storable_text(why, 1000),
        Json(),
        1,
        "",
        ""};
    done.retry = false;
    told.push_back(report_of(report.run, done));
    send(std::move(told), true, lock);
  }

  void keep_alive() {
    std::unique_lock lock(mutex);
    while (!halted) {
      SteadyTime next = std::chrono::steady_clock::now() + std::chrono::hours(1);
      for (const auto& [id, run] : held) next = std::min(next, run->beat_at);
      // A new run may have a shorter lease than all others, so it ends the wait.
      beat_sooner.wait_until(lock, next, [this] { return halted || came; });
      came = false;
      std::vector<std::shared_ptr<Held>> due;
      const SteadyTime now = std::chrono::steady_clock::now();
      for (const auto& [id, run] : held) {
        if (run->beat_at > now || due.size() == heartbeats_max) continue;
        run->beat_at = now + heartbeat_timeout(run->lease);  // retry soon unless an answer arrives
        due.push_back(run);
      }
      if (due.empty()) continue;
      // The other thread watches the remaining runs while this one waits for an answer.
      came = true;
      beat_sooner.notify_one();
      beat(due, lock);
    }
  }

  void beat(const std::vector<std::shared_ptr<Held>>& runs, std::unique_lock<std::mutex>& lock) {
    milliseconds shortest = runs.front()->lease;
    Json list = Json::array();
    for (const auto& run : runs) {
      shortest = std::min(shortest, run->lease);
      list.push_back(Json::object({{"id", run->work.run.value},
                                   {"fence", static_cast<std::int64_t>(run->fence)},
                                   {"lease", text(run->lease)}}));
    }
    lock.unlock();
    const auto answer =
        calls.post("/v1/runs/heartbeat", Json::object({{"worker", name}, {"runs", list}}), heartbeat_timeout(shortest));
    if (!answer || !answer->ok()) {
      log_warning("worker.heartbeat_failed", {{"message", answer ? said(*answer) : answer.error().message}});
    }
    std::map<std::string, const Json*> outcomes;
    if (answer && answer->ok() && answer->document["items"].is_array()) {
      for (const Json& item : answer->document["items"].items()) {
        outcomes[std::string(item.text_or("id", ""))] = &item;
      }
    }
    std::vector<std::shared_ptr<Held>> lost;
    lock.lock();
    const SteadyTime now = std::chrono::steady_clock::now();
    for (const auto& run : runs) {
      const auto found = outcomes.find(run->work.run.value);
      const std::string_view outcome = found == outcomes.end() ? "error" : found->second->text_or("outcome", "error");
      if (outcome == "kept") {
        const Json& lease_ms = (*found->second)["lease_ms"];
        run->extend(milliseconds(lease_ms.is_integer() ? lease_ms.as_integer() : 0));
      } else if (outcome != "error" || now >= run->lease_ends) {
        // The lease is lost: the result of the handler will not be used.
        run->beat_at = SteadyTime::max();
        lost.push_back(run);
      }
    }
    lock.unlock();
    for (const auto& run : lost) run->stop.request_stop();
    lock.lock();
  }

  // Releases runs whose handler has not started.
  void release(const std::deque<std::shared_ptr<Held>>& runs) {
    if (runs.empty()) return;
    Json list = Json::array();
    for (const auto& run : runs) {
      list.push_back(Json::object({{"id", run->work.run.value}, {"fence", static_cast<std::int64_t>(run->fence)}}));
    }
    const auto released =
        calls.post("/v1/runs/release", Json::object({{"worker", name}, {"runs", list}}), call_timeout);
    if (!released || !released->ok()) {
      log_warning("worker.release_failed", {{"message", released ? said(*released) : released.error().message}});
    }
    const std::lock_guard lock(mutex);
    for (const auto& run : runs) forget(*run);
  }
};

Worker::Worker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Worker::~Worker() { stop(); }

Result<std::unique_ptr<Worker>> Worker::open(WorkerOptions options) {
  if (!options.server.starts_with("http://") && !options.server.starts_with("https://")) {
    return Error{ErrorCode::invalid,
                 "the server URL must begin with http:// or https://, not \"" + options.server + "\""};
  }
  if (options.prefixes.empty()) options.prefixes = prefixes_of_environment();
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
  for (std::size_t i = 0; i < heartbeaters; ++i) parts.threads.emplace_back([&parts] { parts.keep_alive(); });
  for (std::size_t i = 0; i < parts.options.threads; ++i) parts.threads.emplace_back([&parts] { parts.work(); });
}

void Worker::stop(milliseconds grace) {
  Parts& parts = *parts_;
  const SteadyTime ends = std::chrono::steady_clock::now() + grace;
  std::deque<std::shared_ptr<Held>> unbegun;
  {
    std::unique_lock lock(parts.mutex);
    if (parts.stopping) return;
    parts.stopping = true;
    parts.room_changed.notify_all();
    unbegun.swap(parts.ready);
    // Each poll ends with the answer in transit, or without one.
    parts.polls.close_sending();
    parts.held_changed.wait_for(lock, std::min(grace, poll_end_max), [&parts] { return parts.questions == 0; });
    unbegun.insert(unbegun.end(), parts.ready.begin(), parts.ready.end());
    parts.ready.clear();
    parts.undone -= unbegun.size();
    parts.work_came.notify_all();
  }
  parts.polls.stop();
  parts.release(unbegun);
  std::vector<std::shared_ptr<Held>> late;
  {
    std::unique_lock lock(parts.mutex);
    parts.held_changed.wait_until(lock, ends, [&parts] { return parts.held.empty(); });
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
