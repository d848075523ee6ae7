// Writes member by member in the order of the keys. The bytes equal those of a written Json object, but no object is
// built.
#include <charconv>

#include "base/sha256.h"
#include "instance/snapshot.h"
#include "instance/snapshot_format.h"

namespace cairn {
namespace {

// The longest key below. These keys need no escapes.
constexpr std::size_t key_length_max = 28;

class ObjectText {
 public:
  explicit ObjectText(std::string& out) : out_(out) { out_.push_back('{'); }
  ~ObjectText() { out_.push_back('}'); }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  std::string& key(std::string_view name) {
    // Appended in one call, because appending byte by byte takes longer than the rest.
    char quoted[key_length_max + 4];
    char* to = quoted;
    if (!first_) *to++ = ',';
    first_ = false;
    *to++ = '"';
    to += name.copy(to, key_length_max);
    *to++ = '"';
    *to++ = ':';
    out_.append(quoted, static_cast<std::size_t>(to - quoted));
    return out_;
  }
  void text(std::string_view name, std::string_view value) { write_json_string(value, key(name)); }
  void some_text(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    key(name).append(digits, static_cast<std::size_t>(end - digits));
  }
  void some_number(std::string_view name, std::uint64_t value) {
    if (value != 0) number(name, value);
  }
  void json(std::string_view name, const Json& value) { write_json(value, key(name)); }
  void some_json(std::string_view name, const Json& value) {
    if (!value.is_null()) json(name, value);
  }
  void time(std::string_view name, Timestamp value) {
    std::string& out = key(name);
    out.push_back('"');
    write_timestamp(value, out);
    out.push_back('"');
  }
  void some_time(std::string_view name, const std::optional<Timestamp>& value) {
    if (value) time(name, *value);
  }
  template <class Items, class Write>
  void some_list(std::string_view name, const Items& items, Write write) {
    if (items.empty()) return;
    std::string& out = key(name);
    out.push_back('[');
    bool first = true;
    for (const auto& item : items) {
      if (!first) out.push_back(',');
      first = false;
      write(item, out);
    }
    out.push_back(']');
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void write(const Frame& frame, std::string& out) {
  ObjectText object(out);
  object.some_json("data", frame.data);
  object.text("kind", frame.kind);
  object.some_text("place", frame.place);
  object.some_text("visit", frame.visit);
}

void write(const Strand& strand, std::string& out) {
  ObjectText object(out);
  object.some_list("frames", strand.frames, [](const Frame& frame, std::string& text) { write(frame, text); });
  object.number("id", strand.id);
  object.some_number("parent", strand.parent);
  object.some_list("waits", strand.waits,
                   [](const WaitToken& token, std::string& text) { write_json_string(token.value, text); });
}

void write(const Wait& wait, std::string& out) {
  ObjectText object(out);
  object.some_json("key", wait.key);
  object.text("kind", to_string(wait.kind));
  object.some_text("name", wait.name);
  object.time("since", wait.since);
  object.text("step", wait.step);
  object.number("strand", wait.strand);
  object.some_text("target", wait.target);
  object.text("token", wait.token.value);
  object.some_time("until", wait.until);
}

void write(const BufferedSignal& signal, std::string& out) {
  ObjectText object(out);
  object.time("at", signal.at);
  if (signal.held > 0) object.number("held", signal.held);
  object.some_text("id", signal.id);
  object.some_json("key", signal.key);
  object.text("name", signal.name);
  object.some_json("payload", signal.payload);
  object.some_text("token", signal.token.value);
  object.some_time("until", signal.until);
}

void write(const Compensation& compensation, std::string& out) {
  ObjectText object(out);
  object.number("branch", compensation.branch);
  object.text("place", compensation.place);
  object.some_json("scope", compensation.scope);
}

void write(const CompletedTask& task, std::string& out) {
  ObjectText object(out);
  object.text("by", task.by);
  object.text("name", task.name);
}

void write(const HeldWakeup& held, std::string& out) {
  ObjectText object(out);
  if (held.attempt > 1) object.number("attempt", static_cast<std::uint64_t>(held.attempt));
  if (held.failure) object.json("failure", to_json(*held.failure));
  object.some_json("result", held.result);
  if (held.state_version > 0) object.number("state_version", held.state_version);
  object.text("token", held.token.value);
}

void write_business(const Snapshot& snapshot, std::string& out) {
  ObjectText object(out);
  object.json("input", snapshot.input);
  object.some_json("output", snapshot.output);
  {
    ObjectText reference(object.key("reference"));
    reference.json("key", snapshot.reference.key);
    reference.json("parts", snapshot.reference.parts);
  }
  object.json("state", snapshot.state);
}

void write_engine(const Snapshot& snapshot, std::string& out) {
  ObjectText object(out);
  const auto each = [](const auto& item, std::string& text) { write(item, text); };
  object.some_list("compensations", snapshot.compensations, each);
  object.some_list("completed_tasks", snapshot.completed_tasks, each);
  object.number("counter", snapshot.counter);
  if (snapshot.error) object.json("error", to_json(*snapshot.error));
  object.some_number("failed_strand", snapshot.failed_strand);
  object.some_list("held", snapshot.held, each);
  object.some_text("last_event", snapshot.last_event);
  if (snapshot.parent) {
    ObjectText parent(object.key("parent"));
    parent.text("instance", snapshot.parent->instance.value);
    parent.text("token", snapshot.parent->token.value);
  }
  object.some_list("ready", snapshot.ready, [](std::uint64_t id, std::string& text) { text += std::to_string(id); });
  object.some_list("signals", snapshot.signals, each);
  object.some_time("slice_now", snapshot.slice_now);
  object.some_number("slice_steps", static_cast<std::uint64_t>(snapshot.slice_steps));
  object.some_list("strands", snapshot.strands, each);
  object.some_text("trace", snapshot.trace);
  object.some_list("waits", snapshot.waits, each);
}

void write(const Snapshot& snapshot, std::string& out) {
  ObjectText object(out);
  write_business(snapshot, object.key("business"));
  object.time("changed_at", snapshot.changed_at);
  write_engine(snapshot, object.key("engine"));
  object.text("instance", snapshot.instance.value);
  {
    ObjectText program(object.key("program"));
    program.text("digest", snapshot.program.digest);
    program.text("name", snapshot.program.name);
    program.text("version", snapshot.program.version);
  }
  object.time("started_at", snapshot.started_at);
  object.number("state_version", snapshot.state_version);
  object.text("status", to_string(snapshot.status));
}

}  // namespace

std::string snapshot_checksum(std::string_view body) {
  const auto digest = sha256(body);
  return to_hex({reinterpret_cast<const char*>(digest.data()), snapshot_checksum_length / 2});
}

std::string encode_snapshot(const Snapshot& snapshot) {
  std::string bytes;
  bytes.reserve(2048);
  bytes += snapshot_head;
  const std::size_t checksum_at = bytes.size();
  bytes.append(snapshot_checksum_length, '0');
  bytes += snapshot_format_key;
  bytes += std::to_string(snapshot_format);
  bytes += snapshot_body_key;
  const std::size_t body_at = bytes.size();
  write(snapshot, bytes);
  bytes.replace(checksum_at, snapshot_checksum_length, snapshot_checksum(std::string_view(bytes).substr(body_at)));
  bytes.push_back('}');
  return bytes;
}

}  // namespace cairn
