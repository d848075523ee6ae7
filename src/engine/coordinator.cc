#include "engine/coordinator.h"
#include "instance/trace_id.h"

#include <algorithm>

#include "base/json_size.h"
#include "base/limit_refusals.h"
#include "base/log.h"
#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/sender_scope.h"
#include "engine/task_fields.h"
#include "store/unsynced_read.h"
#include "store/projection.h"
#include "store/store_calls.h"

namespace cairn {

Result<std::unique_ptr<Coordinator>> Coordinator::open(Store& store, CoordinatorOptions options) {
  const bool strict = options.strict_definitions;
  std::unique_ptr<Coordinator> coordinator(new Coordinator(store, std::move(options)));
  CAIRN_TRY_VOID(coordinator->registry_.load(strict));
  return coordinator;
}

Coordinator::Coordinator(Store& store, CoordinatorOptions options)
    : store_(store),
      options_(std::move(options)),
      node_(options_.node + "-" + new_uuid(store.now()).substr(24)),
      registry_(store),
      cache_(options_.snapshots_cached),
      lanes_([this](std::function<void()> next) { deferred_.post(std::move(next)); }, options_.yield),
      deferred_(!options_.yield),
      queue_(store, options_.yield),
      run_types_(store),
      run_intake_(store),
      lease_waiters_(store) {
  store_.watch([this](const Wakeup& wakeup) {
    const StoreCallsForbidden inside_a_commit;
    if (wakeup.runs) lease_waiters_.look();
    for (const InstanceId& id : wakeup.ended) {
      // What this node has ended itself is handed over with the answer to its commit (`committed`), when it is durable.
      if (queue_.commits_here()) continue;
      if (id.empty()) {
        // Ends may have been missed: everybody who waits for one looks, and no snapshot is known to be the last.
        cache_.clear();
        waiters_.tell_all();
        continue;
      }
      cache_.drop(id);
      waiters_.tell(id.value);
      tell_ended(id);
    }
    if (wakeup.definitions) registry_.expect_changes();
    pass_on(wakeup);
  });
}

Coordinator::~Coordinator() {
  stop();
  store_.watch({});  // it may hear of other nodes at any time
}

void Coordinator::stop() {
  stopped_ = true;
  lease_waiters_.stop();
  run_intake_.stop();
  queue_.stop();
  deferred_.stop();
  waiters_.tell_all();
  on_wakeup({});
}

void Coordinator::defer(std::function<void()> task) {
  if (!StoreCallsForbidden::here()) return task();
  deferred_.post(std::move(task));
}

void Coordinator::keep_answer(IdempotencyKey key, std::function<void(Result<void>)> kept) {
  Unit unit;
  unit.key = std::move(key);
  unit.actor = node_;
  queue_.submit(std::move(unit), [kept = std::move(kept)](Result<CommitOutcome> written, const Unit&) {
    if (!written) return kept(std::move(written).error());
    // A repeat on another node may have been quicker: then its answer stands.
    kept(written->kind == CommitOutcome::Kind::failed ? Result<void>(std::move(written->error)) : Result<void>());
  });
}

void Coordinator::tell_ended(const InstanceId& id) {
  if (ended_) ended_(id);
}

// Held while it is called: once it is taken away, nobody is inside it any more.
void Coordinator::on_wakeup(WakeupListener listener) {
  const std::lock_guard lock(listener_mutex_);
  listener_ = std::move(listener);
}

void Coordinator::pass_on(const Wakeup& wakeup) {
  {
    const std::lock_guard lock(listener_mutex_);
    if (listener_) listener_(wakeup);
  }
  const std::lock_guard lock(listeners_->mutex);
  for (const WakeupListener& one : listeners_->list) one(wakeup);
}

std::shared_ptr<void> Coordinator::listen(WakeupListener listener) {
  const std::lock_guard lock(listeners_->mutex);
  const auto place = listeners_->list.insert(listeners_->list.end(), std::move(listener));
  return {nullptr, [listeners = listeners_, place](void*) {
            const std::lock_guard inner(listeners->mutex);
            listeners->list.erase(place);
          }};
}

Setting Coordinator::setting(const Program& program) {
  Setting setting;
  setting.config = options_.config;
  setting.limits = options_.limits;
  setting.known = registry_.index_for(program);
  setting.trace = options_.trace;
  return setting;
}

namespace {

std::string hash_of(const StartRequest& request) {
  Json body = Json::object({{"definition", request.definition}, {"input", request.input}, {"id", request.id}});
  if (request.version) body.set("version", *request.version);
  if (request.reference) body.set("reference", Json::array({request.reference->key, request.reference->parts}));
  return sha256_hex(write_json(body));
}

}  // namespace

Result<std::variant<InstanceAnswer, Coordinator::PreparedStart>> Coordinator::prepare_start(const StartRequest& request) {
  using Begun = std::variant<InstanceAnswer, PreparedStart>;
  CAIRN_TRY_VOID(check_incoming(request.input, "the input", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the id", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.idempotency_key, "the idempotency key", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.actor.name, "the actor", options_.limits));
  if (request.reference) {
    CAIRN_TRY_VOID(check_incoming_key(request.reference->key, "the reference's key", options_.limits));
    CAIRN_TRY_VOID(check_incoming(request.reference->parts, "the reference", options_.limits));
    const std::size_t bytes_max = options_.limits.reference_bytes_max;
    if (written_beyond(request.reference->parts, bytes_max)) {
      return limit_error("limits.reference_bytes_max", static_cast<std::int64_t>(bytes_max),
                         "the reference is larger than " + std::to_string(bytes_max) + " bytes");
    }
  }
  std::optional<IdempotencyKey> key;
  if (!request.idempotency_key.empty()) {
    key = IdempotencyKey{scoped_keys(request.actor, "start"), request.idempotency_key, hash_of(request), Json()};
    CAIRN_TRY_VOID(MemoryOnly::may_call_store());
    // Before anything else: a repeat is answered even when its definition can no longer be started.
    CAIRN_TRY(const auto known, store_.find_key(key->scope, key->key));
    if (known) {
      CAIRN_TRY(const InstanceAnswer again,
                started_before(*key, known->answer, known->request_hash == key->request_hash));
      return Begun(again);
    }
  }
  CAIRN_TRY(const auto program, registry_.find(request.definition, request.version));
  const Timestamp now = store_.now();
  Started started;
  started.instance = {request.id.empty() ? new_uuid(now) : request.id};
  started.input = request.input;
  started.reference = request.reference;
  if (is_traceparent(request.traceparent)) started.trace = request.traceparent;
  const InstanceId id = started.instance;

  Slice slice(registry_, setting(*program), now, request.actor.name, node_);
  if (auto done = slice.start(*program, std::move(started)); !done) return std::move(done).error();
  if (key) {
    key->answer = Json::object({{"instance", id.value}});
    // What the first request is answered with, unless the instance goes on at once.
    if (slice.unfinished().empty()) {
      key->answer.set("version", static_cast<std::int64_t>(slice.last().version));
      key->answer.set("status", to_string(slice.last().status));
    }
    slice.unit.key = key;
  }
  CAIRN_TRY_VOID(lease_new_runs(slice));
  return Begun(PreparedStart{id, std::move(key), std::move(slice)});
}

Result<InstanceAnswer> Coordinator::finish_start(PreparedStart& prepared, Result<CommitOutcome> written) {
  Slice& slice = prepared.slice;
  if (!written) {
    defer_slices(slice.unfinished());
    return std::move(written).error();
  }
  switch (written->kind) {
    case CommitOutcome::Kind::done: {
      const SharedSnapshot last = committed(slice, *written);
      return InstanceAnswer{prepared.id, last->version, last->status, last->output, false};
    }
    case CommitOutcome::Kind::duplicate_key:
      return started_before(*prepared.key, written->answer, written->same_request);
    case CommitOutcome::Kind::stale:
      return Error{ErrorCode::conflict, "an instance with the id " + prepared.id.value + " exists already"};
    case CommitOutcome::Kind::duplicate_signal:
    case CommitOutcome::Kind::failed: break;
  }
  return written->error;
}

Result<InstanceAnswer> Coordinator::rested(const InstanceId& id) {
  CAIRN_TRY(const auto snapshot, store_.find_snapshot(id));
  if (!snapshot) return Error{ErrorCode::not_found, "no instance " + id.value};
  return InstanceAnswer{id, snapshot->version, snapshot->status, snapshot->output, false};
}

Result<InstanceAnswer> Coordinator::started_before(const IdempotencyKey& key, const Json& first, bool same_request) {
  if (!same_request) {
    return Error{ErrorCode::conflict,
                 "idempotency_key_reused: the idempotency key '" + key.key + "' was used for another request"};
  }
  InstanceAnswer again;
  again.instance = {std::string(first.text_or("instance", ""))};
  again.repeated = true;
  const auto status = status_from(first.text_or("status", ""));
  if (status && first["version"].is_integer()) {
    again.version = static_cast<std::uint64_t>(first["version"].as_integer());
    again.status = *status;
    return with_output(std::move(again));
  }
  CAIRN_TRY(const auto row, store_.find_instance(again.instance));
  if (row) {
    again.version = row->version;
    again.status = row->status;
  }
  return with_output(std::move(again));
}

Result<InstanceAnswer> Coordinator::with_output(InstanceAnswer again) {
  if (again.status != Status::completed && again.status != Status::running) return again;
  CAIRN_TRY(const auto rested, store_.find_snapshot(again.instance));
  if (!rested) return again;
  if (again.status == Status::running) {
    again.version = rested->version;
    again.status = rested->status;
  }
  again.output = rested->output;
  return again;
}

namespace {

// A signal by name and key that its instance does not use belongs to whoever waits for it, or will: because the
// instance has ended meanwhile, or because it left it (rule S11). In the latter case the instance keeps it too, for its
// own later waits, and is not asked again. Where several got it, each has its own.
void pass_signal_on(Decision& decision, const Message& message) {
  Unit& unit = decision.slice.unit;
  const Snapshot& rested = decision.slice.last();
  CorrelatedSignal signal = signal_of(message.body);
  const bool ended = decision.slice.stale();
  const bool left = !ended && rested.status != Status::suspended && message.body["alone"] == Json(true) &&
                    std::any_of(rested.signals.begin(), rested.signals.end(),
                                [&](const BufferedSignal& kept) { return kept.id == signal.id; });
  if (!ended && !left) return;
  if (ended) unit.inbox.reset();
  // Not a moment longer than it was sent for.
  const Timestamp until = after(message.at, signal.ttl);
  if (until <= rested.changed_at && left) return;
  if (left) signal.ttl = between(rested.changed_at, until);
  unit.signals = {std::move(signal)};
}

// What may come between the commits of one slice. Everything else would begin a slice of its own in the middle of
// this one, and `now` would change under its steps (rule S22).
bool may_interrupt(const EventBody& what) {
  return std::holds_alternative<Continued>(what) || std::holds_alternative<CancelRequested>(what) ||
         std::holds_alternative<SuspendRequested>(what) || std::holds_alternative<StateEdited>(what) ||
         std::holds_alternative<SignalDiscarded>(what);
}

}  // namespace

Result<Decision, DeliveryError> Coordinator::decide(const Delivery& delivery, bool may_use_cache) {
  const UnsyncedRead unsynced;
  SharedSnapshot before;
  if (may_use_cache) before = cache_.find(delivery.instance);
  const bool from_cache = before != nullptr;
  if (!before) {
    if (auto may = MemoryOnly::may_call_store(); !may) return DeliveryError{DeliveryError::Kind::store, std::move(may).error()};
    auto found = store_.find_snapshot(delivery.instance);
    if (!found) {
      // A newer node wrote it: that one will see to it, unless nobody does for the grace period.
      const DeliveryError::Kind kind = found.error().code == ErrorCode::corrupt       ? DeliveryError::Kind::unreadable
                                  : found.error().code == ErrorCode::unsupported ? DeliveryError::Kind::no_definition
                                                                                 : DeliveryError::Kind::store;
      return DeliveryError{kind, found.error()};
    }
    if (!*found) {
      return DeliveryError{DeliveryError::Kind::no_instance, {ErrorCode::not_found, "no instance " + delivery.instance.value}};
    }
    before = std::make_shared<const Snapshot>(std::move(**found));
  }
  if (delivery.version && *delivery.version != before->version) {
    if (from_cache) return decide(delivery, false);
    return DeliveryError{DeliveryError::Kind::moved,
                    {ErrorCode::conflict, "stale_version: instance " + delivery.instance.value + " is at version " +
                                              std::to_string(before->version)}};
  }
  if (before->status == Status::running && !may_interrupt(delivery.what)) {
    if (from_cache) return decide(delivery, false);
    return DeliveryError{DeliveryError::Kind::cut,
                    {ErrorCode::unavailable, "instance " + delivery.instance.value + " is in the middle of a slice"}};
  }
  auto program = registry_.pinned(before->program);
  if (!program) {
    const bool missing = program.error().code == ErrorCode::not_found;
    return DeliveryError{missing ? DeliveryError::Kind::no_definition : DeliveryError::Kind::store, program.error()};
  }
  auto what = delivery.what;
  if (auto* timer = std::get_if<TimerFired>(&what)) {
    if (auto may = MemoryOnly::may_call_store(); !may) return DeliveryError{DeliveryError::Kind::store, std::move(may).error()};
    auto fields = fields_beside(store_, *before, timer->token);
    if (!fields) return DeliveryError{DeliveryError::Kind::store, std::move(fields).error()};
    timer->task_fields = std::move(*fields);
  }
  Decision decision{Slice(registry_, setting(**program), store_.now(), delivery.actor, node_), before, from_cache};
  if (auto applied = decision.slice.apply(**program, *before, std::move(what)); !applied) {
    // What the cache had is no ground for a refusal: ask the store.
    if (from_cache) return decide(delivery, false);
    const bool unreadable = applied.error().code == ErrorCode::corrupt;
    return DeliveryError{unreadable ? DeliveryError::Kind::unreadable : DeliveryError::Kind::refused, std::move(applied).error()};
  }
  if (decision.slice.stale() && from_cache) return decide(delivery, false);
  Unit& unit = decision.slice.unit;
  unit.message = delivery.cause.message;
  unit.timer = delivery.cause.timer;
  unit.run = delivery.cause.run;
  unit.inbox = delivery.cause.inbox;
  unit.task = delivery.cause.task;
  unit.key = delivery.cause.key;
  unit.dead_letters.insert(unit.dead_letters.end(), delivery.cause.dead_letters.begin(), delivery.cause.dead_letters.end());
  if (delivery.cancels && !decision.slice.stale()) unit.advances.front().runs_cancelled.push_back(*delivery.cancels);
  if (delivery.message && delivery.message->kind == Message::Kind::signal) pass_signal_on(decision, *delivery.message);
  if (unit.key && unit.key->answer.is_null()) {
    const Snapshot& after = decision.slice.last();
    unit.key->answer = Json::object({{"instance", after.instance.value},
                                     {"version", static_cast<std::int64_t>(after.version)},
                                     {"status", to_string(after.status)}});
  }
  if (auto named = lease_new_runs(decision.slice); !named) {
    return DeliveryError{DeliveryError::Kind::store, std::move(named).error()};
  }
  return decision;
}

SharedSnapshot Coordinator::committed(Slice& slice, CommitOutcome& outcome) {
  if (observer_) observer_(slice);
  SharedSnapshot last;
  for (const auto& [id, reached] : slice.instances()) {
    auto snapshot = std::make_shared<const Snapshot>(slice.take_latest(reached));
    if (id == slice.first()) last = snapshot;
    if (is_final(snapshot->status)) {
      cache_.drop(snapshot->instance);
    } else {
      cache_.put(snapshot);
    }
    waiters_.tell(*snapshot);
    if (is_final(snapshot->status)) tell_ended(snapshot->instance);
  }
  if (outcome.leased.empty()) return last;
  std::function<void(RunRow)> take;
  {
    const std::lock_guard lock(lease_mutex_);
    take = take_run_;
  }
  for (RunRow& run : outcome.leased) {
    if (slice.promise) {
      slice.promise->keep(std::move(run));
    } else if (take) {
      take(std::move(run));
    }
  }
  return last;
}

void Coordinator::defer_slices(const std::vector<InstanceId>& cut) {
  if (cut.empty()) return;
  {
    const std::lock_guard lock(deferred_slices_mutex_);
    for (const InstanceId& id : cut) deferred_slices_.insert(id.value);
  }
  look_again();
}

void Coordinator::look_again() {
  Wakeup later;
  later.due = after(store_.now(), options_.hold);
  {
    const std::lock_guard lock(deferred_slices_mutex_);
    if (!again_at_ || *later.due < *again_at_) again_at_ = later.due;
  }
  pass_on(later);
}

Result<std::optional<Timestamp>> Coordinator::next_due(Timestamp looked_at) {
  CAIRN_TRY(std::optional<Timestamp> due, store_.next_due(looked_at));
  const std::lock_guard lock(deferred_slices_mutex_);
  if (again_at_ && (!due || *again_at_ < *due)) due = again_at_;
  return due;
}

void Coordinator::retry_deferred() {
  std::set<std::string> left;
  {
    const std::lock_guard lock(deferred_slices_mutex_);
    if (again_at_ && *again_at_ <= store_.now()) again_at_.reset();
    left.swap(deferred_slices_);
  }
  for (const std::string& id : left) {
    const Lanes::Hold lane = lanes_.enter({id});
    continue_slices({{id}});
  }
}

Result<std::optional<Delivered>, DeliveryError> Coordinator::conclude(const Delivery& delivery, Decision& decision,
                                                                 CommitOutcome& outcome) {
  Delivered delivered;
  delivered.after = decision.before;
  switch (outcome.kind) {
    case CommitOutcome::Kind::done:
      delivered.kind = decision.slice.stale() ? Delivered::Kind::stale : Delivered::Kind::applied;
      delivered.unfinished = decision.slice.unfinished();
      if (SharedSnapshot last = committed(decision.slice, outcome)) delivered.after = std::move(last);
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::duplicate_signal:
      delivered.kind = Delivered::Kind::duplicate_signal;
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::duplicate_key:
      delivered.kind = Delivered::Kind::duplicate_key;
      delivered.answer = outcome.answer;
      delivered.same_request = outcome.same_request;
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::failed:
      cache_.drop(delivery.instance);
      return DeliveryError{DeliveryError::Kind::refused, outcome.error};
    case CommitOutcome::Kind::stale: break;
  }
  cache_.drop(delivery.instance);
  auto now = store_.find_snapshot(delivery.instance);
  if (!now) return DeliveryError{DeliveryError::Kind::store, now.error()};
  if (*now && (**now).version == decision.before->version && (**now).started_at == decision.before->started_at) {
    // The instance stands where we decided: then it is the cause that is gone, not the ground.
    delivered.kind = Delivered::Kind::stale;
    return std::optional(std::move(delivered));
  }
  return std::optional<Delivered>();
}

}  // namespace cairn
