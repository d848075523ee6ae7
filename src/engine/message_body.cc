#include "engine/message_body.h"

namespace cairn {

Message message_of(const ParentNotice& notice) {
  Message message;
  message.target = notice.parent.instance;
  message.kind = Message::Kind::child_finished;
  message.body = Json::object({{"token", notice.parent.token.value},
                               {"output", notice.output},
                               {"failure", notice.failure ? to_json(*notice.failure) : Json()}});
  return message;
}

Message cancel_message(const InstanceId& target, const std::string& reason) {
  Message message;
  message.target = target;
  message.kind = Message::Kind::cancel;
  message.body = Json::object({{"reason", reason}});
  return message;
}

Result<EventBody> event_of(const Message& message) {
  const Json& body = message.body;
  const auto wrong = [&](const char* what) {
    return Error{ErrorCode::corrupt, std::string("a ") + to_string(message.kind) + " message has no " + what};
  };
  switch (message.kind) {
    case Message::Kind::signal: {
      if (body.text_or("name", "").empty()) return wrong("name");
      SignalReceived signal{std::string(body.text_or("id", "")), std::string(body.text_or("name", "")), body["key"],
                            body["payload"]};
      if (const Json& ttl = body["ttl_ms"]; ttl.is_integer())
        signal.until = add(message.at, Duration::of_ms(ttl.as_integer()));
      return EventBody(std::move(signal));
    }
    case Message::Kind::child_finished: {
      if (body.text_or("token", "").empty()) return wrong("token");
      ChildFinished finished{{std::string(body.text_or("token", ""))}, body["output"], std::nullopt};
      if (!body["failure"].is_null()) {
        CAIRN_TRY(finished.failure, failure_from_json(body["failure"]));
      }
      return EventBody(std::move(finished));
    }
    case Message::Kind::run_finished: {
      if (body.text_or("token", "").empty()) return wrong("token");
      RunFinished finished{{std::string(body.text_or("token", ""))}, body["result"], std::nullopt};
      if (!body["failure"].is_null()) {
        CAIRN_TRY(finished.failure, failure_from_json(body["failure"]));
      }
      return EventBody(std::move(finished));
    }
    case Message::Kind::cancel: return EventBody(CancelRequested{std::string(body.text_or("reason", ""))});
  }
  return wrong("kind");
}

Json envelope_of(const Message& message) {
  return Json::object({{"kind", to_string(message.kind)},
                       {"target", message.target.value},
                       {"body", message.body},
                       {"at", format_timestamp(message.at)}});
}

DeadLetter letter_of_expiry(const InstanceId& instance, const BufferedSignal& signal, const std::string& node) {
  Message message;
  message.target = instance;
  message.kind = Message::Kind::signal;
  message.at = signal.at;
  message.body = Json::object(
      {{"id", signal.id + "/again"}, {"name", signal.name}, {"key", signal.key}, {"payload", signal.payload}});
  DeadLetter letter;
  letter.instance = instance;
  letter.kind = "message";
  letter.envelope = envelope_of(message);
  letter.reason = "expired: no step took signal " + signal.name + " before its time to live was over";
  letter.node = node;
  return letter;
}

}  // namespace cairn
