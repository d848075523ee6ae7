// Writes a snapshot member by member.
#include "base/sha256.h"
#include "instance/snapshot.h"
#include "instance/snapshot_format.h"
#include "instance/snapshot_text.h"

namespace cairn {
namespace {

void write(const Frame& frame, SnapshotText& out) {
  SnapshotObject object(out);
  object.some_json("data", frame.data);
  object.text("kind", frame.kind);
  object.some_text("place", frame.place);
  object.some_text("visit", frame.visit);
}

void write(const Strand& strand, SnapshotText& out) {
  SnapshotObject object(out);
  object.some_list("frames", strand.frames, [](const Frame& frame, SnapshotText& text) { write(frame, text); });
  object.number("id", strand.id);
  object.some_number("parent", strand.parent);
  object.some_list("waits", strand.waits,
                   [](const WaitToken& token, SnapshotText& text) { write_json_string(token.value, text.bytes); });
}

void write(const Wait& wait, SnapshotText& out) {
  SnapshotObject object(out);
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

void write(const BufferedSignal& signal, SnapshotText& out) {
  SnapshotObject object(out);
  object.time("at", signal.at);
  if (signal.held > 0) object.number("held", signal.held);
  object.some_text("id", signal.id);
  object.some_json("key", signal.key);
  object.text("name", signal.name);
  object.some_json("payload", signal.payload);
  object.some_text("token", signal.token.value);
  object.some_time("until", signal.until);
}

void write(const Compensation& compensation, SnapshotText& out) {
  SnapshotObject object(out);
  object.number("branch", compensation.branch);
  object.text("place", compensation.place);
  object.some_json("scope", compensation.scope);
}

void write(const CompletedTask& task, SnapshotText& out) {
  SnapshotObject object(out);
  object.text("by", task.by);
  object.text("name", task.name);
}

void write(const HeldWakeup& held, SnapshotText& out) {
  SnapshotObject object(out);
  if (held.attempt > 1) object.number("attempt", static_cast<std::uint64_t>(held.attempt));
  if (held.failure) object.json("failure", to_json(*held.failure));
  object.some_json("result", held.result);
  if (held.state_version > 0) object.number("state_version", held.state_version);
  object.text("token", held.token.value);
}

void write_business(const Snapshot& snapshot, SnapshotText& out) {
  SnapshotObject object(out);
  object.json("input", snapshot.input);
  object.some_json("output", snapshot.output);
  {
    SnapshotObject reference(object.open("reference"));
    reference.json("key", snapshot.reference.key);
    reference.json("parts", snapshot.reference.parts);
  }
  object.json("state", snapshot.state);
}

void write_engine(const Snapshot& snapshot, SnapshotText& out) {
  SnapshotObject object(out);
  const auto each = [](const auto& item, SnapshotText& text) { write(item, text); };
  object.some_list("compensations", snapshot.compensations, each);
  object.some_list("completed_tasks", snapshot.completed_tasks, each);
  object.number("counter", snapshot.counter);
  if (snapshot.error) object.json("error", to_json(*snapshot.error));
  object.some_number("failed_strand", snapshot.failed_strand);
  object.some_list("held", snapshot.held, each);
  object.some_text("last_event", snapshot.last_event);
  if (snapshot.parent) {
    SnapshotObject parent(object.open("parent"));
    parent.text("instance", snapshot.parent->instance.value);
    parent.text("token", snapshot.parent->token.value);
  }
  object.some_list("ready", snapshot.ready, [](std::uint64_t id, SnapshotText& text) { text.bytes += std::to_string(id); });
  object.some_list("signals", snapshot.signals, each);
  object.some_time("slice_now", snapshot.slice_now);
  object.some_number("slice_steps", static_cast<std::uint64_t>(snapshot.slice_steps));
  object.some_list("strands", snapshot.strands, each);
  object.some_text("trace", snapshot.trace);
  object.some_list("waits", snapshot.waits, each);
}

void write(const Snapshot& snapshot, SnapshotText& out) {
  SnapshotObject object(out);
  write_business(snapshot, object.open("business"));
  object.time("changed_at", snapshot.changed_at);
  write_engine(snapshot, object.open("engine"));
  object.text("instance", snapshot.instance.value);
  {
    SnapshotObject program(object.open("program"));
    program.text("digest", snapshot.program.digest);
    program.text("name", snapshot.program.name);
    program.text("version", snapshot.program.version);
  }
  object.time("started_at", snapshot.started_at);
  object.number("state_version", snapshot.state_version);
  object.text("status", to_string(snapshot.status));
}

}  // namespace

std::string snapshot_checksum(std::string_view covered) {
  const auto digest = sha256(covered);
  return to_hex({reinterpret_cast<const char*>(digest.data()), snapshot_checksum_length / 2});
}

// The format follows from what the body has, so it is written last. One digit each.
static_assert(snapshot_format < 10);

std::string encode_snapshot(const Snapshot& snapshot, PieceWriter* apart) {
  SnapshotText out{{}, apart};
  std::string& bytes = out.bytes;
  bytes.reserve(2048);
  bytes += snapshot_head;
  const std::size_t checksum_at = bytes.size();
  bytes.append(snapshot_checksum_length, '0');
  bytes += snapshot_format_key;
  const std::size_t format_at = bytes.size();
  bytes.push_back('1');
  bytes += snapshot_body_key;
  const std::size_t body_at = bytes.size();
  write(snapshot, out);
  const bool has_places = apart != nullptr && apart->has_places();
  if (has_places) {
    bytes[format_at] = '2';
    bytes.push_back('2');
  }
  bytes.replace(checksum_at, snapshot_checksum_length, snapshot_checksum(std::string_view(bytes).substr(body_at)));
  if (has_places) bytes.pop_back();
  bytes.push_back('}');
  return std::move(out.bytes);
}

std::string encode_snapshot(const Snapshot& snapshot) { return encode_snapshot(snapshot, nullptr); }

}  // namespace cairn
