// Any request to a webhook: without the right signature it is refused, and the signals of a readable request hold text
// that every store takes.
#include "api/access/inbound_hook.h"

#include "base/utf8.h"
#include "input.h"
#include "outbox/signature.h"

namespace {

using namespace cairn;

bool storable(std::string_view text) { return is_utf8(text) && text.find('\0') == std::string_view::npos; }

const std::vector<api::InboundHook>& hooks() {
  static const std::vector<api::InboundHook> read = [] {
    const auto settings = parse_json(R"j([
      {"name":"events","id":"aaaaaaaaaaaaaaaaaaaaaaaa","secret":"01234567890123456789012345678901","types":["t"]},
      {"name":"orders","id":"bbbbbbbbbbbbbbbbbbbbbbbb","secret":"01234567890123456789012345678901",
       "signal":"= body.kind","key":"= body.id","event_id":"= headers[\"ce-id\"]","signed_headers":["x-more"]}])j");
    auto made = api::read_hooks(*settings);
    CAIRN_ASSERT(made.has_value());
    return std::move(*made);
  }();
  return read;
}

}  // namespace

void fuzz(std::string_view input) {
  const api::InboundHook& hook = hooks()[fuzzing::take_byte(input) % 2];
  const bool sign_it = fuzzing::take_byte(input) % 2 == 0;
  api::Request request;
  request.headers = fuzzing::take_headers(input);
  request.body = std::string(input);
  for (const auto& [name, value] : request.headers) {
    if (!storable(name) || !storable(value)) return;  // the server refuses such headers before
  }
  const Timestamp now{1'700'000'000, 0};
  CAIRN_ASSERT(!api::check_signed(hook, request, now));
  if (sign_it) {
    SignedRequest covered{hook.id, {}, request.body};
    for (const auto& header : request.headers) {
      if (is_signed_header(header.first) || header.first == "x-more") covered.headers.push_back(header);
    }
    request.headers.emplace_back(timestamp_header, "1700000000");
    request.headers.emplace_back(signature_header, sign(hook.secret, now, covered));
    static_cast<void>(api::check_signed(hook, request, now));
  }
  const auto signals = api::signals_of(hook, request);
  if (!signals) {
    CAIRN_ASSERT(!signals.error().message.empty());
    return;
  }
  for (const api::HookSignal& signal : *signals) {
    CAIRN_ASSERT(storable(signal.id) && storable(signal.name));
    if (signal.key.is_string()) CAIRN_ASSERT(storable(signal.key.as_string()));
    CAIRN_ASSERT(parse_json(write_json(signal.payload)).has_value());
    CAIRN_ASSERT(hook.signal || signal.name.starts_with("t"));
  }
}
