#include "outbox/cloud_event.h"

#include <algorithm>

#include "base/limit_refusals.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"

namespace cairn {
namespace {

constexpr std::size_t attribute_bytes_max = 1024;

bool is_unreserved(unsigned char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '%'; }

// CloudEvents HTTP binding 3.1.3.2: percent-encodes `"`, `%` and everything that is not printable ASCII, as UTF-8.
std::string header_value(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(byte)) {
      out += c;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string from_header(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string_view find(const EventHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Error wrong(const std::string& what) { return {ErrorCode::invalid, "the CloudEvent " + what}; }

Result<std::string> attribute(const Json& event, std::string_view name) {
  const Json& value = event[name];
  if (!value.is_string() || value.as_string().empty()) return wrong("has no `" + std::string(name) + "`");
  if (value.as_string().size() > attribute_bytes_max)
    return wrong("has a `" + std::string(name) + "` that is too long");
  return std::string(value.as_string());
}

Result<std::vector<InboundEvent>> read_binary(const EventHeaders& headers, std::string_view body,
                                              std::string_view media_type) {
  Json event = Json::object();
  for (const auto& [name, value] : headers) {
    if (!name.starts_with("ce-")) continue;
    const std::string text = from_header(value);
    // %FF and %00 pass the check of the header itself, but no store takes the text.
    if (!is_utf8(text) || text.find('\0') != std::string::npos) return wrong("has a `" + name + "` that is not UTF-8");
    event.set(std::string_view(name).substr(3), text);
  }
  if (!body.empty()) {
    if (media_type.empty() || media_type == "application/json" || media_type.ends_with("+json")) {
      CAIRN_TRY(Json data, parse_json(body));
      event.set("data", std::move(data));
    } else if (media_type.starts_with("text/")) {
      // Parse it as JSON, so that text that JSON cannot hold is refused here.
      std::string quoted;
      write_json_string(body, quoted);
      CAIRN_TRY(Json data, parse_json(quoted));
      event.set("data", std::move(data));
    } else {
      return wrong("has data of type " + std::string(media_type) + "; send JSON or text");
    }
  }
  CAIRN_TRY(InboundEvent read, read_cloud_event(event));
  return std::vector<InboundEvent>{std::move(read)};
}

}  // namespace

std::string short_id(std::string id) {
  if (count_code_points(id) <= Limits().name_length_max) return id;
  return "sha256:" + sha256_hex(id);
}

EventContent content_of(const OutboxRow& row) {
  auto [data, carried] = without_trace(row.event.data);
  const std::string span = span_id_of(row.event.id.value);
  if (!carried.empty()) return {std::move(data), continued_traceparent(carried, span)};
  if (row.instance.value.empty()) return {std::move(data), ""};
  return {std::move(data), traceparent_of(trace_id_of(row.instance), span)};
}

Json cloud_event(const OutboxRow& row, const std::string& source) {
  EventContent content = content_of(row);
  Json event = Json::object({{"specversion", "1.0"},
                             {"id", row.event.id.value},
                             {"source", source},
                             {"type", row.event.type},
                             {"time", format_timestamp(row.created_at)},
                             {"datacontenttype", "application/json"},
                             {"data", std::move(content.data)},
                             {"sequence", std::to_string(row.sequence)}});
  if (!row.event.subject.empty()) event.set("subject", row.event.subject);
  if (!row.instance.value.empty()) event.set("instance", row.instance.value);
  if (!content.traceparent.empty()) event.set("traceparent", content.traceparent);
  return event;
}

EventHeaders binary_headers(const OutboxRow& row, const std::string& source) {
  EventHeaders headers{{"ce-specversion", "1.0"},
                       {"ce-id", header_value(row.event.id.value)},
                       {"ce-source", header_value(source)},
                       {"ce-type", header_value(row.event.type)},
                       {"ce-time", format_timestamp(row.created_at)},
                       {"ce-sequence", std::to_string(row.sequence)},
                       {"content-type", "application/json"}};
  if (!row.event.subject.empty()) headers.emplace_back("ce-subject", header_value(row.event.subject));
  if (!row.instance.value.empty()) headers.emplace_back("ce-instance", header_value(row.instance.value));
  if (std::string trace = content_of(row).traceparent; !trace.empty()) {
    headers.emplace_back("ce-traceparent", std::move(trace));
  }
  return headers;
}

Result<InboundEvent> read_cloud_event(const Json& event) {
  if (!event.is_object()) return wrong("must be an object");
  CAIRN_TRY(const std::string version, attribute(event, "specversion"));
  if (version != "1.0") return wrong("has specversion " + version + "; only 1.0 is supported");
  InboundEvent read;
  CAIRN_TRY(read.id, attribute(event, "id"));
  CAIRN_TRY(read.source, attribute(event, "source"));
  CAIRN_TRY(read.type, attribute(event, "type"));
  if (const Json& subject = event["subject"]; !subject.is_null()) {
    CAIRN_TRY(const std::string text, attribute(event, "subject"));
    read.subject = Json(text);
  }
  if (event.find("data_base64") != nullptr) return wrong("has binary data; send JSON");
  read.data = event["data"];
  return read;
}

Result<std::vector<InboundEvent>> read_cloud_events(const EventHeaders& headers, std::string_view body,
                                                    std::size_t batch_max) {
  const std::string_view type = find(headers, "content-type");
  std::string media_type(type.substr(0, type.find(';')));
  while (!media_type.empty() && media_type.back() == ' ') media_type.pop_back();
  std::transform(media_type.begin(), media_type.end(), media_type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (media_type == batch_type) {
    CAIRN_TRY(const Json batch, parse_json(body));
    if (!batch.is_array()) return Error{ErrorCode::invalid, "a batch of CloudEvents must be a list"};
    if (batch.size() > batch_max) {
      return limit_error("limits.event_batch_max", static_cast<std::int64_t>(batch_max),
                         "a batch has at most " + std::to_string(batch_max) + " events");
    }
    std::vector<InboundEvent> events;
    for (const Json& one : batch.items()) {
      auto read = read_cloud_event(one);
      if (!read) {
        Error error = std::move(read).error();
        error.places = {{"/" + std::to_string(events.size()), error.message}};
        return error;
      }
      events.push_back(std::move(*read));
    }
    return events;
  }
  if (media_type != structured_type && !find(headers, "ce-specversion").empty()) {
    return read_binary(headers, body, media_type);
  }
  CAIRN_TRY(const Json event, parse_json(body));
  CAIRN_TRY(InboundEvent read, read_cloud_event(event));
  return std::vector<InboundEvent>{std::move(read)};
}

}  // namespace cairn
