#include "api/bulk_jobs.h"

#include <algorithm>
#include <cstdio>

#include "base/id.h"
#include "base/log.h"

namespace cairn::api {
namespace {

constexpr const char* job_kind = "bulk";
constexpr const char* part_kind = "bulk_part";      // a part of the selection
constexpr const char* active_kind = "bulk_active";  // a job that some server has to run
constexpr std::size_t part_items = 1'000;
constexpr std::size_t items_between_writes = 100;
constexpr std::chrono::milliseconds time_between_writes{500};
constexpr std::int64_t lock_s = 10;
constexpr std::chrono::seconds look_every{10};  // for jobs of servers that have stopped
constexpr int tries_max = 5;
constexpr std::chrono::milliseconds pause_between_tries{200};

std::string part_id(const std::string& job, std::size_t number) {
  constexpr std::size_t digits = 6;
  const std::string text = std::to_string(number);
  return job + "/" + std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::optional<BulkJobs::State> state_from(std::string_view text) {
  using enum BulkJobs::State;
  for (const BulkJobs::State state : {preview, running, paused, cancelled, finished}) {
    if (text == to_string(state)) return state;
  }
  return std::nullopt;
}

std::size_t number_of(const Json& body, const char* name) {
  const Json& value = body[name];
  return value.is_integer() ? static_cast<std::size_t>(value.as_integer()) : 0;
}

Json body_of(const BulkJobs::Progress& job) {
  Json failures = Json::array();
  for (const BulkJobs::Failed& one : job.failures) failures.push_back(Json::array({one.instance.value, one.error}));
  return Json::object({{"order", job.order},
                       {"state", to_string(job.state)},
                       {"total", static_cast<std::int64_t>(job.total)},
                       {"done", static_cast<std::int64_t>(job.done)},
                       {"failed", static_cast<std::int64_t>(job.failed)},
                       {"failures", failures},
                       {"created_at", format_timestamp(job.created_at)}});
}

BulkJobs::Progress job_of(const DocumentRow& row) {
  BulkJobs::Progress job;
  job.id = row.id;
  job.order = row.body["order"];
  job.state = state_from(row.body.text_or("state", "")).value_or(BulkJobs::State::paused);
  job.total = number_of(row.body, "total");
  job.done = number_of(row.body, "done");
  job.failed = number_of(row.body, "failed");
  if (row.body["failures"].is_array()) {
    for (const Json& one : row.body["failures"].items()) {
      if (!one.is_array() || one.size() != 2) continue;
      job.failures.push_back({{std::string(one.items()[0].as_string())}, std::string(one.items()[1].as_string())});
    }
  }
  job.created_at = parse_timestamp(std::string(row.body.text_or("created_at", ""))).value_or(row.changed_at);
  return job;
}

Error no_job(const std::string& id) { return {ErrorCode::not_found, "no job " + id}; }

}  // namespace

const char* to_string(BulkJobs::State state) {
  switch (state) {
    case BulkJobs::State::preview: return "preview";
    case BulkJobs::State::running: return "running";
    case BulkJobs::State::paused: return "paused";
    case BulkJobs::State::cancelled: return "cancelled";
    case BulkJobs::State::finished: return "finished";
  }
  return "paused";
}

BulkJobs::BulkJobs(Store& store, std::string node, Action action, std::chrono::milliseconds patience,
                   std::size_t jobs_max)
    : store_(store),
      shared_(store.traits().shared),
      node_(std::move(node)),
      action_(std::move(action)),
      patience_(patience),
      jobs_max_(jobs_max) {}

BulkJobs::~BulkJobs() {
  thread_.request_stop();
  waits_thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (waits_thread_.joinable()) waits_thread_.join();
}

Result<std::optional<std::string>> BulkJobs::submit(Json order, const std::vector<InstanceId>& instances, State state) {
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= jobs_max_) return std::optional<std::string>();
  }
  Progress job;
  job.created_at = store_.now();
  job.id = new_uuid(job.created_at);
  job.order = std::move(order);
  job.state = instances.empty() && state == State::running ? State::finished : state;
  job.total = instances.size();
  for (std::size_t at = 0; at < instances.size(); at += part_items) {
    Json ids = Json::array();
    for (std::size_t i = at; i < std::min(at + part_items, instances.size()); ++i) ids.push_back(instances[i].value);
    const DocumentRow part{part_kind, part_id(job.id, at / part_items), "", Json::object({{"ids", ids}}), 0, {}};
    CAIRN_TRY_VOID(store_.put_document(part));
  }
  CAIRN_TRY_VOID(store_.put_document({job_kind, job.id, "", body_of(job), 0, {}}));
  if (job.state == State::running) {
    CAIRN_TRY_VOID(store_.put_document({active_kind, job.id, "", Json::object(), 0, {}}));
    enqueue(job.id);
  }
  CAIRN_TRY_VOID(forget_old());
  return std::optional(job.id);
}

void BulkJobs::enqueue(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const bool known = (running_ && running_->id == id) || std::find(queue_.begin(), queue_.end(), id) != queue_.end();
  if (!known) queue_.push_back(id);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  changed_.notify_one();
}

Result<void> BulkJobs::change(const std::string& id, State to, const std::string& reason) {
  constexpr int attempts_max = 20;  // the server that runs the job writes its progress meanwhile
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    CAIRN_TRY(auto row, store_.find_document(job_kind, id));
    if (!row) return no_job(id);
    Progress job = job_of(*row);
    if (job.state == to) return {};
    if (job.is_over()) return Error{ErrorCode::conflict, "job " + id + " is " + to_string(job.state)};
    row->body.set("state", to_string(to));
    if (!reason.empty() && job.state == State::preview) {
      job.order.set("reason", reason);
      row->body.set("order", job.order);
    }
    CAIRN_TRY(const auto version, store_.put_document(*row));
    if (version) return {};
  }
  return Error{ErrorCode::unavailable, "job " + id + " changes too often; try again"};
}

Result<void> BulkJobs::resume(const std::string& id) { return start(id, {}); }

Result<void> BulkJobs::start(const std::string& id, const std::string& reason) {
  CAIRN_TRY_VOID(change(id, State::running, reason));
  CAIRN_TRY_VOID(store_.put_document({active_kind, id, "", Json::object(), 0, {}}));
  enqueue(id);
  return {};
}

Result<void> BulkJobs::pause(const std::string& id) { return change(id, State::paused); }
Result<void> BulkJobs::cancel(const std::string& id) { return change(id, State::cancelled); }

Result<std::optional<BulkJobs::Progress>> BulkJobs::find(const std::string& id) const {
  {
    const std::scoped_lock lock(mutex_);
    if (running_ && running_->id == id) return running_;
  }
  CAIRN_TRY(const auto row, store_.find_document(job_kind, id));
  return row ? std::optional(job_of(*row)) : std::optional<Progress>();
}

Result<std::vector<BulkJobs::Progress>> BulkJobs::list() const {
  std::vector<Progress> jobs;
  PageRequest page{finished_max, ""};
  do {
    CAIRN_TRY(const auto rows, store_.list_documents({job_kind}, page));
    for (const DocumentRow& row : rows.items) jobs.push_back(job_of(row));
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  std::reverse(jobs.begin(), jobs.end());
  const std::scoped_lock lock(mutex_);
  for (Progress& job : jobs) {
    if (running_ && running_->id == job.id) job = *running_;
  }
  return jobs;
}

Result<std::vector<InstanceId>> BulkJobs::items(const Progress& job, std::size_t from, std::size_t max) const {
  std::vector<InstanceId> found;
  for (std::size_t part = from / part_items; found.size() < max && part * part_items < job.total; ++part) {
    CAIRN_TRY(const auto row, store_.find_document(part_kind, part_id(job.id, part)));
    if (!row || !row->body["ids"].is_array()) return Error{ErrorCode::corrupt, "job " + job.id + " lacks a part"};
    const auto& ids = row->body["ids"].items();
    for (std::size_t i = part == from / part_items ? from % part_items : 0; i < ids.size() && found.size() < max; ++i) {
      found.push_back({std::string(ids[i].as_string())});
    }
  }
  return found;
}

Result<void> BulkJobs::forget_old() {
  {
    // The list is long if many jobs wait, so not each of them reads it.
    const std::scoped_lock lock(mutex_);
    constexpr std::size_t every = 20;
    if (submitted_++ % every != 0) return {};
  }
  CAIRN_TRY(const auto jobs, list());
  std::size_t finished = 0, previews = 0;
  for (const Progress& job : jobs) {
    const bool is_preview = job.state == State::preview;
    if (!is_preview && !job.is_over()) continue;
    if (is_preview ? ++previews <= previews_max : ++finished <= finished_max) continue;
    for (std::size_t part = 0; part * part_items < job.total; ++part) {
      CAIRN_TRY_VOID(store_.remove_document(part_kind, part_id(job.id, part)));
    }
    CAIRN_TRY_VOID(store_.remove_document(job_kind, job.id));
  }
  return {};
}

BulkJobs::Progress BulkJobs::current(const std::string& id) const {
  const auto found = find(id);
  if (found && *found) return **found;
  Progress none;
  none.id = id;
  none.state = State::paused;
  return none;
}

Result<bool> BulkJobs::tell(const std::string& id, std::size_t after, Done<const Progress&> done) {
  CAIRN_TRY(const auto found, find(id));
  if (!found) return false;
  std::optional<Progress> now = found;
  {
    const std::scoped_lock lock(mutex_);
    if (running_ && running_->id == id) now = running_;
    const std::size_t enough = after + std::max<std::size_t>(now->total / 100, 1) - 1;
    if (now->state == State::running && !waits_ended_ && now->position() <= enough) {
      waiters_.emplace(id, Waiter{enough, std::move(done), std::chrono::steady_clock::now() + patience_});
      if (!waits_thread_.joinable()) {
        waits_thread_ = std::jthread([this](const std::stop_token& stop) { end_waits(stop); });
      }
      waiter_came_.notify_one();
      return true;
    }
  }
  done(*now);
  return true;
}

void BulkJobs::serve() {
  {
    const std::scoped_lock lock(mutex_);
    serves_ = true;
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
  }
  changed_.notify_one();
}

void BulkJobs::stop_waiting() {
  std::vector<std::pair<Done<const Progress&>, std::string>> list;
  {
    const std::scoped_lock lock(mutex_);
    waits_ended_ = true;
    for (auto& [id, waiter] : waiters_) list.emplace_back(std::move(waiter.done), id);
    waiters_.clear();
  }
  for (const auto& [done, id] : list) done(current(id));
}

// Answers each waiter whose time is over with the progress so far.
void BulkJobs::end_waits(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (waiter_came_.wait(lock, stop, [this] { return !waiters_.empty(); })) {
    if (stop.stop_requested()) return;
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::pair<Done<const Progress&>, std::string>> list;
    auto next = now + patience_;
    for (auto at = waiters_.begin(); at != waiters_.end();) {
      if (at->second.until > now) {
        next = std::min(next, at->second.until);
        ++at;
        continue;
      }
      list.emplace_back(std::move(at->second.done), at->first);
      at = waiters_.erase(at);
    }
    if (list.empty()) {
      // Later waiters have later deadlines: only the end of the server is worth waking up for.
      waiter_came_.wait_until(lock, stop, next, [] { return false; });
      continue;
    }
    lock.unlock();
    for (const auto& [done, id] : list) done(current(id));
    lock.lock();
  }
}

void BulkJobs::tell_waiters(const Progress& progress, bool all) {
  std::vector<Done<const Progress&>> list;
  {
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = waiters_.equal_range(progress.id);
    for (auto at = first; at != last;) {
      if (all || progress.position() > at->second.after) {
        list.push_back(std::move(at->second.done));
        at = waiters_.erase(at);
      } else {
        ++at;
      }
    }
  }
  for (const auto& done : list) done(progress);
}

void BulkJobs::look_for_left_jobs() {
  const auto rows = store_.list_documents({active_kind}, {jobs_max_, ""});
  if (!rows) return;
  for (const DocumentRow& row : rows->items) {
    const std::scoped_lock lock(mutex_);
    if (std::find(queue_.begin(), queue_.end(), row.id) == queue_.end()) queue_.push_back(row.id);
  }
}

void BulkJobs::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::optional<std::chrono::steady_clock::time_point> next_look;  // absent: this server has not looked yet
  while (!stop.stop_requested()) {
    const bool due = !next_look || (shared_ && std::chrono::steady_clock::now() >= *next_look);
    if (queue_.empty() && serves_ && due) {
      lock.unlock();
      look_for_left_jobs();
      lock.lock();
      next_look = std::chrono::steady_clock::now() + look_every;
    }
    if (queue_.empty()) {
      const bool served = serves_;
      const auto ready = [&] { return !queue_.empty() || serves_ != served; };
      if (serves_ && shared_) {
        changed_.wait_until(lock, stop, *next_look, ready);
      } else {
        changed_.wait(lock, stop, ready);
      }
      continue;
    }
    const std::string id = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run_job(id, stop);
    lock.lock();
  }
}

Result<bool> BulkJobs::keep(Progress& job, std::uint64_t& version) {
  CAIRN_TRY(const auto written, store_.put_document({job_kind, job.id, "", body_of(job), version, {}}));
  if (written) {
    version = *written;
    return true;
  }
  CAIRN_TRY(const auto row, store_.find_document(job_kind, job.id));
  if (!row) return no_job(job.id);
  version = row->version;
  job.state = job_of(*row).state;
  return false;
}

std::optional<Result<void>> BulkJobs::act(const Progress& job, const InstanceId& instance,
                                          const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    Result<void> done = action_(job.order, instance);
    if (stop.stop_requested() && !done) return std::nullopt;  // the next server tries it again
    if (done || done.error().code != ErrorCode::unavailable || attempt == tries_max) return done;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause_between_tries, [] { return false; });
  }
}

std::optional<HostLock> BulkJobs::claim(const std::string& id) {
  if (!shared_) return HostLock{};  // the store has one server
  auto held = store_.hold_lock("bulk " + id, node_, Duration::of_seconds(lock_s));
  return held ? std::move(*held) : std::nullopt;
}

void BulkJobs::run_job(const std::string& id, const std::stop_token& stop) {
  std::optional<HostLock> held = claim(id);
  if (!held) return;
  const auto row = store_.find_document(job_kind, id);
  if (!row) return;
  if (!*row) {
    static_cast<void>(store_.remove_document(active_kind, id));
    return;
  }
  Progress job = job_of(**row);
  job.order.set("id", id);
  std::uint64_t version = (**row).version;
  std::vector<InstanceId> part;
  std::size_t part_at = 0, unwritten = 0;
  auto written_at = std::chrono::steady_clock::now();
  const auto show = [&] {
    const std::scoped_lock lock(mutex_);
    running_ = job;
  };
  show();
  const auto write = [&] {
    // A second try has the state that another caller wrote.
    auto kept = keep(job, version);
    if (kept && !*kept) kept = keep(job, version);
    if (!kept) log_warning("bulk.progress_not_kept", {{"job", id}, {"message", kept.error().message}});
    held = claim(id);
    unwritten = 0;
    written_at = std::chrono::steady_clock::now();
    return held.has_value();
  };
  bool ours = true;
  while (ours && job.state == State::running && job.position() < job.total && !stop.stop_requested()) {
    if (part.empty() || job.position() >= part_at + part.size()) {
      part_at = job.position();
      auto next = items(job, part_at, part_items);
      if (!next || next->empty()) {
        log_warning("bulk.part_missing", {{"job", id}});
        job.state = State::paused;
        break;
      }
      part = std::move(*next);
    }
    const InstanceId& instance = part[job.position() - part_at];
    const auto done = act(job, instance, stop);
    if (!done) break;
    if (*done) {
      ++job.done;
    } else if (++job.failed <= failures_max) {
      job.failures.push_back({instance, done->error().message});
    }
    const bool late = std::chrono::steady_clock::now() > written_at + time_between_writes;
    if (++unwritten >= items_between_writes || late) ours = write();
    show();
    tell_waiters(job, false);
  }
  if (job.state == State::running && job.position() >= job.total) job.state = State::finished;
  if (ours) write();
  const bool over = job.state != State::running;
  if (ours && over) static_cast<void>(store_.remove_document(active_kind, id));
  if (shared_ && held) static_cast<void>(store_.drop_lock(*held));
  {
    const std::scoped_lock lock(mutex_);
    running_.reset();
  }
  if (!over) return;
  tell_waiters(job, true);
  // A caller may have resumed it while it was being put down.
  const auto now = find(id);
  if (now && *now && (**now).state == State::running) static_cast<void>(resume(id));
}

}  // namespace cairn::api
