// A kind and any JSON as the body of a stored message: it becomes an event or is reported as corrupt.
#include "engine/message_body.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  Message message;
  message.kind = static_cast<Message::Kind>(fuzzing::take_byte(input) % 4);
  auto body = parse_json(input);
  if (!body) return;
  message.body = std::move(*body);
  const auto event = event_of(message);
  if (!event) {
    CAIRN_ASSERT(event.error().code == ErrorCode::corrupt || event.error().code == ErrorCode::invalid);
    return;
  }
  const Json envelope = envelope_of(message);
  CAIRN_ASSERT(message_kind_from(envelope.text_or("kind", "")) == message.kind && envelope["body"] == message.body);
  if (message.kind == Message::Kind::cancel) return;
  CAIRN_ASSERT(!message.body.text_or(message.kind == Message::Kind::signal ? "name" : "token", "").empty());
  if (const Json& failure = message.body["failure"]; failure.is_object() && message.kind != Message::Kind::signal) {
    const auto read = failure_from_json(failure);
    CAIRN_ASSERT(read.has_value());
    const auto again = failure_from_json(to_json(*read));
    CAIRN_ASSERT(again.has_value() && *again == *read);
  }
}
