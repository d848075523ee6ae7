#include "server/event_line.h"

namespace cairn::server {

bool EventStream::send(std::string text) const {
  {
    const std::scoped_lock lock(line_->mutex);
    if (!line_->ring) return false;
    if (line_->waiting.size() + line_->writing + text.size() <= line_->bytes_max) {
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

}  // namespace cairn::server
