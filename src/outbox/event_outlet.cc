#include "outbox/event_outlet.h"

#include "base/log.h"

namespace cairn {
namespace {

// An abandoned batch still writes its results to the store.
constexpr std::chrono::seconds results_within{1};

}  // namespace

EventOutlet::EventOutlet(OutboxStore& store, EventSettings settings, EgressPolicy policy, std::string owner,
                         HttpSurroundings surroundings)
    : store_(store),
      settings_(std::move(settings)),
      owner_(std::move(owner)),
      client_(std::move(policy), {}, std::move(surroundings)) {}

EventOutlet::~EventOutlet() { stop(); }

Result<std::unique_ptr<EventOutlet>> EventOutlet::open(OutboxStore& store, const EventSettings& settings,
                                                       EgressPolicy policy, const std::string& owner,
                                                       HttpSurroundings surroundings) {
  std::unique_ptr<EventOutlet> outlet(
      new EventOutlet(store, settings, std::move(policy), owner, std::move(surroundings)));
  CAIRN_TRY(outlet->sinks_, make_sinks(settings, outlet->client_, [&store] { return store.now(); }));
  return outlet;
}

Result<void> EventOutlet::subscribe(const std::string& name, const std::vector<std::string>& types,
                                    EventHandler handler) {
  return add(std::make_unique<Subscriber>(name, types, settings_.source, std::move(handler)));
}

Result<void> EventOutlet::add(std::unique_ptr<Sink> sink) {
  const std::lock_guard lock(mutex_);
  if (dispatcher_) return Error{ErrorCode::conflict, "add sinks before the engine publishes its first event"};
  for (const auto& known : sinks_) {
    if (known->name() == sink->name())
      return Error{ErrorCode::conflict, "the sink " + sink->name() + " already exists"};
  }
  sinks_.push_back(std::move(sink));
  // From now on events are published.
  settings_.keep.dispatched = true;
  store_.keep_events(settings_.keep);
  return {};
}

bool EventOutlet::serves_any() {
  const std::lock_guard lock(mutex_);
  return dispatcher_ || !sinks_.empty();
}

Dispatcher& EventOutlet::dispatcher() {
  const std::lock_guard lock(mutex_);
  if (!dispatcher_) {
    DispatcherOptions options;
    options.owner = owner_;
    dispatcher_ = std::make_unique<Dispatcher>(store_, std::move(sinks_), options);
  }
  return *dispatcher_;
}

void EventOutlet::start() {
  if (serves_any()) dispatcher().start();
}

void EventOutlet::stop_sending() {
  const std::lock_guard lock(mutex_);
  if (dispatcher_) dispatcher_->stop(std::chrono::milliseconds(0));
}

void EventOutlet::stop(std::chrono::milliseconds grace) {
  Dispatcher* running = nullptr;
  {
    const std::lock_guard lock(mutex_);
    running = dispatcher_.get();
  }
  // The next process would send these events again.
  const bool slow = running != nullptr && !running->stop(grace);
  if (slow) log_warning("outbox.sink_slow", {});
  client_.stop();
  if (!slow) return;
  running->abandon();
  running->stop(results_within);
}

void EventOutlet::look() {
  const std::lock_guard lock(mutex_);
  if (dispatcher_) dispatcher_->look();
}

Result<std::size_t> EventOutlet::drain() {
  if (!serves_any()) return std::size_t{0};
  std::size_t published = 0;
  for (;;) {
    CAIRN_TRY(const Dispatcher::Round round, dispatcher().dispatch());
    published += round.published;
    if (round.claimed == 0) return published;
  }
}

}  // namespace cairn
