#include "http/event_line.h"

namespace cairn::http {

bool EventStream::send(std::string text) const {
  {
    const std::scoped_lock lock(line_->mutex);
    if (!line_->ring) return false;
    const std::size_t unread = line_->waiting.size() + line_->writing;
    // Text larger than the limit is accepted if nothing else waits; otherwise it could never be sent.
    if (unread == 0 || unread + text.size() <= line_->bytes_max) {
      line_->waiting += text;
      line_->ring();
      return true;
    }
  }
  line_->close();
  return false;
}

bool EventStream::open() const {
  const std::scoped_lock lock(line_->mutex);
  return static_cast<bool>(line_->ring);
}

void EventStream::hold(std::shared_ptr<void> held) const {
  const std::scoped_lock lock(line_->mutex);
  if (line_->ring) line_->held.push_back(std::move(held));
}

bool EventStream::takes(std::size_t bytes) const {
  const std::scoped_lock lock(line_->mutex);
  const std::size_t unread = line_->waiting.size() + line_->writing;
  return unread == 0 || unread + bytes <= line_->bytes_max;
}

std::size_t EventStream::waiting_bytes() const {
  const std::scoped_lock lock(line_->mutex);
  return line_->waiting.size() + line_->writing;
}

void EventStream::close() const { line_->close(); }

void EventStream::on_drained(std::function<void()> drained) const {
  {
    const std::scoped_lock lock(line_->mutex);
    if (line_->ring && line_->waiting.size() + line_->writing > 0) {
      line_->drained = std::move(drained);
      return;
    }
  }
  drained();
}

}  // namespace cairn::http
