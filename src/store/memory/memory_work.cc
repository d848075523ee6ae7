#include "store/memory/memory_store.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {

Timestamp MemoryStore::now() { return whole_ms(clock_.now()); }
Result<int> MemoryStore::schema_version() { return 1; }

void MemoryStore::watch(WakeupListener listener) { listener_ = std::move(listener); }

void MemoryStore::tell(const Wakeup& wakeup) const {
  if (listener_ && (wakeup.messages || wakeup.runs || wakeup.outbox || wakeup.due || !wakeup.ended.empty())) {
    listener_(wakeup);
  }
}

Result<std::vector<DueTimer>> MemoryStore::take_timers(std::size_t max, Duration hold) {
  const std::lock_guard lock(mutex_);
  const Timestamp at = now();
  std::vector<DueTimer> taken;
  std::set<std::string> behind;  // instances with an earlier item that is held
  for (auto timer = timers_.begin(); timer != timers_.end() && timer->second.due <= at && taken.size() < max;) {
    const auto instance = instances_.find(timer->second.instance.value);
    if (instance == instances_.end() || !instance->second.waits.contains(timer->second.token)) {
      held_timers_.erase(timer->first);
      timer = timers_.erase(timer);  // its wait is closed: stale
      continue;
    }
    const auto held = held_timers_.find(timer->first);
    if (held != held_timers_.end() && held->second > at) {
      behind.insert(timer->second.instance.value);
    } else if (!behind.contains(timer->second.instance.value)) {
      held_timers_[timer->first] = after(at, hold);
      taken.push_back(timer->second);
    }
    ++timer;
  }
  return taken;
}

Result<std::vector<Message>> MemoryStore::take_messages(std::size_t max, Duration hold) {
  const std::lock_guard lock(mutex_);
  const Timestamp at = now();
  std::vector<Message> taken;
  std::set<std::string> behind;  // instances with an earlier item that is held
  for (const auto& [id, message] : messages_) {
    if (taken.size() == max) break;
    const auto held = held_messages_.find(id);
    if (held != held_messages_.end() && held->second > at) {
      behind.insert(message.target.value);
      continue;
    }
    if (behind.contains(message.target.value)) continue;
    held_messages_[id] = after(at, hold);
    taken.push_back(message);
  }
  return taken;
}

void MemoryStore::give_back(const DueTimer& timer) {
  const std::lock_guard lock(mutex_);
  const auto instance = instances_.find(timer.instance.value);
  if (instance != instances_.end()) held_timers_.erase({timer.due, instance->second.number, timer.token});
}

void MemoryStore::give_back_message(std::int64_t message) {
  const std::lock_guard lock(mutex_);
  held_messages_.erase(message);
}

Result<std::optional<Timestamp>> MemoryStore::next_due(Timestamp looked_at) {
  const std::lock_guard lock(mutex_);
  std::optional<Timestamp> due;
  const auto offer = [&due](Timestamp candidate) {
    if (!due || candidate < *due) due = candidate;
  };
  std::set<std::string> behind;  // instances whose next item waits for a held one
  for (const auto& [key, timer] : timers_) {
    const auto held = held_timers_.find(key);
    if (held != held_timers_.end()) {
      behind.insert(timer.instance.value);
      offer(std::max(held->second, timer.due));
    } else if (!behind.contains(timer.instance.value)) {
      offer(timer.due);
      break;
    }
  }
  for (const auto& [id, held] : held_messages_) {
    if (held > looked_at) offer(held);
  }
  for (const auto& [id, run] : runs_) {
    if (run.row.status == RunStatus::pending && run.row.run_at > looked_at && !run.row.deleted_at)
      offer(run.row.run_at);
    if (run.row.status != RunStatus::leased) continue;
    if (run.row.lease_until > looked_at) offer(*run.row.lease_until);
    if (run.attempt_until && *run.attempt_until > looked_at) offer(*run.attempt_until);
  }
  for (const auto& [number, kept] : kept_) {
    if (kept.expires_at) offer(*kept.expires_at);
  }
  if (const auto scheduled = next_scheduled(looked_at)) offer(*scheduled);
  return due;
}

Result<std::optional<HostLock>> MemoryStore::hold_lock(const std::string& name, const std::string& owner,
                                                       Duration length) {
  const std::lock_guard lock(mutex_);
  const Timestamp at = now();
  HostLock& held = locks_[name];
  if (held.owner != owner) {
    if (!held.owner.empty() && held.until > at) return std::optional<HostLock>();
    ++held.fence;
  } else if (held.until <= at) {
    ++held.fence;  // another owner may have held it in between, so the old fence is invalid
  }
  held.name = name;
  held.owner = owner;
  held.until = after(at, length);
  return std::optional(held);
}

Result<void> MemoryStore::drop_lock(const HostLock& given) {
  const std::lock_guard lock(mutex_);
  const auto held = locks_.find(given.name);
  if (held != locks_.end() && held->second.owner == given.owner && held->second.fence == given.fence) {
    held->second.owner.clear();
  }
  return {};
}

std::int64_t MemoryStore::add_dead_letter(const DeadLetter& letter, Wakeup& wakeup) {
  DeadLetter row = letter;
  row.id = ++last_number_;
  row.at = now();
  dead_[row.id] = row;
  if (const auto event = event_of(row, row.at, events_)) {
    write_event(row.instance.value_or(InstanceId{}), *event, wakeup);
  }
  if (row.node == made_by_store) report_dead_letter(row);
  return row.id;
}

Result<std::int64_t> MemoryStore::put_dead_letter(const DeadLetter& letter) {
  Wakeup wakeup;
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = add_dead_letter(letter, wakeup);
  }
  tell(wakeup);
  return id;
}

Result<bool> MemoryStore::replay_dead_letter(std::int64_t id) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    const auto found = dead_.find(id);
    if (found == dead_.end()) return false;
    const DeadLetter& letter = found->second;
    if (letter.kind == "timer" && letter.instance) {
      const auto instance = instances_.find(letter.instance->value);
      const auto due = parse_timestamp(letter.envelope.text_or("due", ""));
      if (instance == instances_.end() || !due) {
        return Error{ErrorCode::unsupported, "the timer's instance or time is gone"};
      }
      const WaitToken token{std::string(letter.envelope.text_or("token", ""))};
      timers_[{*due, instance->second.number, token}] = {*letter.instance, token, *due};
      dead_.erase(found);
      wakeup.due = *due;
    } else {
      const auto kind = message_kind_from(letter.envelope.text_or("kind", ""));
      if (letter.kind != "message" || !letter.instance || !kind || letter.envelope.find("body") == nullptr) {
        return Error{ErrorCode::unsupported, "a dead letter of kind " + letter.kind + " cannot be replayed"};
      }
      Message message;
      message.target = *letter.instance;
      message.kind = *kind;
      message.body = letter.envelope["body"];
      dead_.erase(found);
      send(std::move(message), wakeup);
    }
  }
  tell(wakeup);
  return true;
}

Result<bool> MemoryStore::discard_dead_letter(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  return dead_.erase(id) == 1;
}

Result<void> MemoryStore::park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                               std::optional<std::int64_t> message) {
  Wakeup wakeup;
  std::unique_lock lock(mutex_);
  const auto instance = instances_.find(id.value);
  if (instance != instances_.end() && !is_final(instance->second.row.status)) {
    instance->second.row.status = Status::suspended;
    instance->second.row.error = why;
    for (const OutboxEntry& event : events_of_parking(id, why, now(), events_)) write_event(id, event, wakeup);
  }
  add_dead_letter(letter, wakeup);
  if (message) {
    messages_.erase(*message);
    held_messages_.erase(*message);
  }
  lock.unlock();
  tell(wakeup);
  return {};
}

Result<bool> MemoryStore::mark_deleted(const InstanceId& id, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  const auto instance = instances_.find(id.value);
  if (instance == instances_.end() || !is_final(instance->second.row.status)) return false;
  if (!instance->second.row.deleted_at) {
    instance->second.row.deleted_at = now();
    instance->second.row.delete_reason = reason;
  }
  return true;
}

Result<RetentionOutcome> MemoryStore::retire_instances(const RetentionRequest& request) {
  const std::lock_guard lock(mutex_);
  RetentionOutcome outcome;
  std::multimap<std::string, std::string> children;
  for (const auto& [id, instance] : instances_) {
    if (instance.row.parent) children.emplace(instance.row.parent->value, id);
  }
  const auto old = [&](const Instance& instance) {
    return is_final(instance.row.status) && instance.row.ended_at && *instance.row.ended_at < request.ended_before;
  };
  std::size_t roots = 0;
  const auto order = instance_order_;
  for (const auto& [number, id] : order) {
    const auto found = instances_.find(id);
    if (found == instances_.end()) continue;  // removed together with its root
    const Instance& root = found->second;
    if (root.row.parent && instances_.contains(root.row.parent->value)) continue;
    if (!old(root) ||
        std::find(request.statuses.begin(), request.statuses.end(), root.row.status) == request.statuses.end()) {
      continue;
    }
    std::vector<std::string> tree{id};
    bool whole = true;
    for (std::size_t at = 0; at < tree.size() && whole; ++at) {
      whole = old(instances_.at(tree[at]));
      const auto [from, to] = children.equal_range(tree[at]);
      for (auto child = from; child != to; ++child) tree.push_back(child->second);
    }
    if (!whole) continue;
    if (roots == request.max) {
      outcome.more = true;
      break;
    }
    ++roots;
    for (const std::string& member : tree) remove_instance(member);
    outcome.instances += tree.size();
  }
  return outcome;
}

void MemoryStore::remove_instance(const std::string& id) {
  const std::int64_t number = instances_.at(id).number;
  std::erase_if(tasks_, [&](const auto& task) { return task.second.row.instance.value == id; });
  std::erase_if(runs_,
                [&](const auto& run) { return run.second.row.instance && run.second.row.instance->value == id; });
  std::erase_if(messages_, [&](const auto& message) { return message.second.target.value == id; });
  std::erase_if(timers_, [&](const auto& timer) { return timer.second.instance.value == id; });
  std::erase_if(outbox_, [&](const auto& row) {
    const bool gone = row.second.instance.value == id && row.second.published_at;
    if (gone) deliveries_.erase(row.first);
    return gone;
  });
  PieceChanges gone;
  gone.all = true;
  change_pieces(number, gone);
  instance_order_.erase(number);
  instances_.erase(id);
}

}  // namespace cairn
