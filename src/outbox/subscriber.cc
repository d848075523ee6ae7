#include "outbox/subscriber.h"

#include <exception>
#include <set>

#include "outbox/cloud_event.h"

namespace cairn {

std::vector<SinkAnswer> Subscriber::deliver(std::span<const OutboxRow> events) {
  std::vector<SinkAnswer> answers(events.size());
  std::set<std::string> stopped;  // subjects with a failure in this batch
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (stopping() || stopped.contains(events[i].event.subject)) continue;
    std::string error = "the handler returned false";
    bool taken = false;
    // The handler is user code: an exception counts as a failed delivery.
    try {
      taken = handler_(cloud_event(events[i], source_));
    } catch (const std::exception& failure) {
      error = failure.what();
    } catch (...) {
      error = "the handler threw an exception that is not a std::exception";
    }
    answers[i].kind = taken ? SinkAnswer::Kind::taken : SinkAnswer::Kind::failed;
    if (taken) continue;
    answers[i].error = std::move(error);
    stopped.insert(events[i].event.subject);
  }
  return answers;
}

}  // namespace cairn
