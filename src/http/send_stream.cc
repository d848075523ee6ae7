// g++ 12 frees temporary aggregates and capturing lambdas twice inside a co_await expression. Give them a name first.
// Sends a stream of events on a connection until the client or the server ends it.
#include "http/connection.h"

namespace cairn::http {

Steps<> Connection::stream(Response response) {
  const std::function<void()> rope = [this] { ring(); };
  const ClosedAtTheEnd<EventStream::Line> ending(
      std::make_shared<EventStream::Line>(rope, context_.settings.stream_bytes_max));
  const std::shared_ptr<EventStream::Line>& line = ending.shared;
  {
    const std::scoped_lock lock(context_.mutex);
    if (!context_.draining) context_.streams.insert(line);
  }
  if (context_.draining) line->close();
  const bool chunked = version_ == 11;
  std::string head = "HTTP/1." + std::string(chunked ? "1" : "0") +
                     " 200 OK\r\ncontent-type: " + response.content_type +
                     "\r\ncache-control: no-store\r\nconnection: close\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  head += response.standing_headers;
  head += chunked ? "transfer-encoding: chunked\r\n\r\n" : "\r\n";
  if (co_await send(head)) {
    const EventStream events(line);
    response.stream(events);
    response.stream = nullptr;
    co_await pump(*line, chunked);
  }
  const std::scoped_lock lock(context_.mutex);
  context_.streams.erase(line);
}

Steps<> Connection::pump(EventStream::Line& line, bool chunked) {
  for (;;) {
    expect_until(context_.settings.stream_beat);
    std::string text;
    bool closed = false;
    {
      const std::scoped_lock lock(line.mutex);
      text.swap(line.waiting);
      line.writing = text.size();
      closed = !line.ring;
      rung_ = false;
    }
    if (text.empty() && closed) break;
    if (text.empty()) {
      if (!tls_reading_) watch();
      co_await Pause{*this, Waits::turn};
      if (rung_) continue;  // data was sent, or the stream has ended
      if (tls_ && readable_ && input_.empty()) {
        readable_ = false;
        read_tls();
      }
      if (tls_ended_ || (readable_ && has_hung_up(false))) co_return;
      if (!timed_out_) continue;
      text = ":\n\n";
    }
    if (chunked) {
      char size[20];
      std::snprintf(size, sizeof size, "%zx\r\n", text.size());
      text = size + text + "\r\n";
    }
    if (!co_await send(text)) co_return;
    std::function<void()> drained;
    {
      const std::scoped_lock lock(line.mutex);
      line.writing = 0;
      if (line.waiting.empty()) drained.swap(line.drained);
    }
    if (drained) drained();
  }
  if (chunked) co_await send("0\r\n\r\n");
}

}  // namespace cairn::http
