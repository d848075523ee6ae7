// Decoding is strict: a missing, unknown or mistyped member makes the whole snapshot corrupt.
#include <algorithm>
#include <charconv>

#include "instance/piece_reader.h"
#include "instance/snapshot.h"
#include "instance/snapshot_format.h"
#include "instance/trace_id.h"

namespace cairn {
namespace {

constexpr JsonLimits stored_limits{.bytes_max = 256u << 20, .depth_max = 512};

// Reads the members of one object. It keeps the first error and detects members that were never read. It formats the
// place of an error only when there is one.
class ObjectReader {
 public:
  ObjectReader(const Json& value, std::string_view name, std::string& problem)
      : value_(value), name_(name), problem_(problem) {
    if (!value_.is_object()) fail("", "is not an object");
  }
  ObjectReader(const Json& value, const ObjectReader& around, std::string_view name,
               std::optional<std::size_t> index = std::nullopt)
      : value_(value), name_(name), problem_(around.problem_), around_(&around), index_(index) {
    if (!value_.is_object()) fail("", "is not an object");
  }
  ~ObjectReader() {
    if (value_.is_object() && asked_ != value_.size()) fail("", "has members that this format does not know");
  }
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  const Json& json(std::string_view key) { return take(key); }
  std::string text(std::string_view key, bool required = true) {
    const Json& held = take(key);
    if (held.is_string()) return std::string(held.as_string());
    if (required || !held.is_null()) fail(key, "is not text");
    return {};
  }
  std::uint64_t number(std::string_view key, bool required = true) {
    const Json& held = take(key);
    if (held.is_integer() && held.as_integer() >= 0) return static_cast<std::uint64_t>(held.as_integer());
    if (required || !held.is_null()) fail(key, "is not a count");
    return 0;
  }
  std::optional<Timestamp> some_time(std::string_view key) {
    const Json& held = take(key);
    if (held.is_null()) return std::nullopt;
    if (held.is_string()) {
      auto time = parse_timestamp(held.as_string());
      if (time) return *time;
    }
    fail(key, "is not a time");
    return std::nullopt;
  }
  Timestamp time(std::string_view key) {
    const auto found = some_time(key);
    if (!found) fail(key, "is missing");
    return found.value_or(Timestamp{});
  }
  std::optional<Failure> some_failure(std::string_view key) {
    const Json& held = take(key);
    if (held.is_null()) return std::nullopt;
    auto failure = failure_from_json(held);
    if (!failure) {
      fail(key, failure.error().message);
      return std::nullopt;
    }
    return std::move(failure).value();
  }
  // Calls `read` with a reader for each item, which must be an object.
  template <class Read>
  void objects(std::string_view key, Read read) {
    each(key, [&](const Json& item, std::size_t index) { read(ObjectReader(item, *this, key, index)); });
  }
  template <class Read>
  void each(std::string_view key, Read read) {
    const Json& held = take(key);
    if (held.is_null()) return;
    if (!held.is_array()) return fail(key, "is not a list");
    for (std::size_t index = 0; index < held.size(); ++index) read(held.items()[index], index);
  }
  void fail(std::string_view key, const std::string& what) {
    if (problem_.empty()) problem_ = place() + (key.empty() ? "" : "." + std::string(key)) + " " + what;
  }

 private:
  const Json& take(std::string_view key) {
    static const Json absent;
    const Json* found = value_.find(key);
    if (!found) return absent;
    ++asked_;
    return *found;
  }

  std::string place() const {
    std::string text = around_ ? around_->place() + "." : "";
    text += name_;
    if (index_) text += "[" + std::to_string(*index_) + "]";
    return text;
  }

  const Json& value_;
  std::string_view name_;
  std::string& problem_;
  const ObjectReader* around_ = nullptr;
  std::optional<std::size_t> index_;
  std::size_t asked_ = 0;
};

Frame read_frame(ObjectReader&& object) {
  return {.kind = object.text("kind"),
          .place = object.text("place", false),
          .data = object.json("data"),
          .visit = object.text("visit", false)};
}

Strand read_strand(ObjectReader&& object) {
  Strand strand;
  strand.id = object.number("id");
  strand.parent = object.number("parent", false);
  object.objects("frames", [&](ObjectReader&& frame) { strand.frames.push_back(read_frame(std::move(frame))); });
  object.each("waits", [&](const Json& item, std::size_t) {
    if (!item.is_string()) return object.fail("waits", "holds something that is not a token");
    strand.waits.push_back({std::string(item.as_string())});
  });
  return strand;
}

Wait read_wait(ObjectReader&& object) {
  Wait wait;
  wait.token.value = object.text("token");
  const auto kind = wait_kind_from(object.text("kind"));
  if (!kind) object.fail("kind", "is not a kind of wait");
  wait.kind = kind.value_or(WaitKind::timer);
  wait.step = object.text("step");
  wait.strand = object.number("strand");
  wait.since = object.time("since");
  wait.until = object.some_time("until");
  wait.name = object.text("name", false);
  wait.key = object.json("key");
  wait.target = object.text("target", false);
  return wait;
}

BufferedSignal read_signal(ObjectReader&& object) {
  return {.id = object.text("id", false),
          .name = object.text("name"),
          .key = object.json("key"),
          .payload = object.json("payload"),
          .at = object.time("at"),
          .held = object.number("held", false),
          .until = object.some_time("until"),
          .token = {object.text("token", false)}};
}

CompletedTask read_completed(ObjectReader&& object) { return {.name = object.text("name"), .by = object.text("by")}; }

Compensation read_compensation(ObjectReader&& object) {
  return {.place = object.text("place"), .branch = object.number("branch"), .scope = object.json("scope")};
}

HeldWakeup read_held(ObjectReader&& object) {
  HeldWakeup held{.token = {object.text("token")},
                  .result = object.json("result"),
                  .failure = object.some_failure("failure"),
                  .state_version = object.number("state_version", false)};
  held.attempt = std::max(1, static_cast<int>(std::min<std::uint64_t>(object.number("attempt", false), 1'000'000)));
  return held;
}

void read_business(ObjectReader&& object, Snapshot& snapshot) {
  snapshot.input = object.json("input");
  snapshot.output = object.json("output");
  snapshot.state = object.json("state");
  if (!snapshot.state.is_object()) object.fail("state", "is not an object");
  ObjectReader reference(object.json("reference"), object, "reference");
  snapshot.reference = {.key = reference.json("key"), .parts = reference.json("parts")};
  if (!snapshot.reference.parts.is_object()) reference.fail("parts", "is not an object");
}

void read_engine(ObjectReader&& object, Snapshot& snapshot) {
  object.objects("compensations",
                 [&](ObjectReader&& item) { snapshot.compensations.push_back(read_compensation(std::move(item))); });
  object.objects("completed_tasks",
                 [&](ObjectReader&& item) { snapshot.completed_tasks.push_back(read_completed(std::move(item))); });
  snapshot.counter = object.number("counter");
  snapshot.error = object.some_failure("error");
  snapshot.failed_strand = object.number("failed_strand", false);
  object.objects("held", [&](ObjectReader&& item) { snapshot.held.push_back(read_held(std::move(item))); });
  snapshot.last_event = object.text("last_event", false);
  if (const Json& parent = object.json("parent"); !parent.is_null()) {
    ObjectReader reader(parent, object, "parent");
    snapshot.parent = Parent{.instance = {reader.text("instance")}, .token = {reader.text("token")}};
  }
  object.each("ready", [&](const Json& item, std::size_t) {
    if (!item.is_integer() || item.as_integer() <= 0) return object.fail("ready", "holds no strand id");
    snapshot.ready.push_back(static_cast<std::uint64_t>(item.as_integer()));
  });
  object.objects("signals", [&](ObjectReader&& item) { snapshot.signals.push_back(read_signal(std::move(item))); });
  snapshot.slice_now = object.some_time("slice_now");
  snapshot.slice_steps = static_cast<std::int64_t>(object.number("slice_steps", false));
  object.objects("strands", [&](ObjectReader&& item) { snapshot.strands.push_back(read_strand(std::move(item))); });
  snapshot.trace = object.text("trace", false);
  if (!snapshot.trace.empty() && !is_traceparent(snapshot.trace)) object.fail("trace", "is no traceparent");
  object.objects("waits", [&](ObjectReader&& item) { snapshot.waits.push_back(read_wait(std::move(item))); });
}

Snapshot read_snapshot(const Json& value, std::string& problem) {
  Snapshot snapshot;
  ObjectReader object(value, "snapshot", problem);
  snapshot.instance.value = object.text("instance");
  {
    ObjectReader program(object.json("program"), object, "program");
    snapshot.program = {
        .name = program.text("name"), .version = program.text("version"), .digest = program.text("digest")};
  }
  snapshot.state_version = object.number("state_version");
  const auto status = status_from(object.text("status"));
  if (!status) object.fail("status", "is not a status");
  snapshot.status = status.value_or(Status::suspended);
  snapshot.started_at = object.time("started_at");
  snapshot.changed_at = object.time("changed_at");
  read_business(ObjectReader(object.json("business"), object, "business"), snapshot);
  read_engine(ObjectReader(object.json("engine"), object, "engine"), snapshot);
  return snapshot;
}

// Strands and waits refer to each other. A snapshot with a dangling reference is corrupt.
void check_links(const Snapshot& snapshot, std::string& problem) {
  const auto fail = [&](const char* what) {
    if (problem.empty()) problem = what;
  };
  std::vector<std::uint64_t> ids;
  for (const Strand& strand : snapshot.strands) {
    if (strand.id == 0 || strand.id > snapshot.counter) fail("strand ids do not add up");
    ids.push_back(strand.id);
  }
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) fail("a strand occurs twice");
  const auto exists = [&](std::uint64_t id) { return std::binary_search(ids.begin(), ids.end(), id); };

  std::vector<std::string_view> open;
  for (const Wait& wait : snapshot.waits) {
    if (!exists(wait.strand)) fail("a wait belongs to no strand");
    open.push_back(wait.token.value);
  }
  std::vector<std::string_view> claimed;
  for (const Strand& strand : snapshot.strands) {
    if (strand.parent != 0 && !exists(strand.parent)) fail("a strand has no parent");
    for (const WaitToken& token : strand.waits) claimed.push_back(token.value);
  }
  std::sort(open.begin(), open.end());
  std::sort(claimed.begin(), claimed.end());
  if (std::adjacent_find(open.begin(), open.end()) != open.end()) fail("a wait token occurs twice");
  if (open != claimed) fail("strands and waits do not match");
  for (const std::uint64_t id : snapshot.ready) {
    if (!exists(id)) fail("a strand that does not exist is ready");
  }
  if (is_final(snapshot.status) && !snapshot.strands.empty()) fail("an ended instance still has strands");
}

Error corrupt(const std::string& what) { return {ErrorCode::corrupt, "the snapshot does not decode: " + what}; }

}  // namespace

Result<Snapshot> decode_snapshot(std::string_view bytes) { return decode_snapshot(bytes, {}); }

Result<Snapshot> decode_snapshot(std::string_view bytes, const ReadPieces& read, bool* missing) {
  std::string_view rest = bytes;
  const auto skip = [&rest](std::string_view expected) {
    if (!rest.starts_with(expected)) return false;
    rest.remove_prefix(expected.size());
    return true;
  };
  if (!skip(snapshot_head) || rest.size() < snapshot_checksum_length) return corrupt("it does not begin as one");
  const std::string_view checksum = rest.substr(0, snapshot_checksum_length);
  rest.remove_prefix(snapshot_checksum_length);
  int format = 0;
  if (!skip(snapshot_format_key)) return corrupt("it names no format");
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), format);
  if (number.ec != std::errc() || format < 1) return corrupt("its format is not a number");
  if (format > snapshot_format) {
    return Error{ErrorCode::unsupported, "the snapshot has format " + std::to_string(format) +
                                             ", this build reads up to " + std::to_string(snapshot_format) +
                                             "; use a newer cairn"};
  }
  rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
  if (!skip(snapshot_body_key) || !rest.ends_with('}')) return corrupt("it has no body");
  rest.remove_suffix(1);
  const std::string found = format > 1 ? snapshot_checksum(std::string(rest) + std::to_string(format)) : snapshot_checksum(rest);
  if (found != checksum) return corrupt("its checksum does not match");
  auto body = parse_json(rest, stored_limits);
  if (!body) return corrupt(body.error().message);
  PieceReader pieces(read);
  if (format > 1) {
    auto filled = pieces.fill(*body, "snapshot");
    if (missing != nullptr) *missing = pieces.missed();
    // Anything else is a failure of the store.
    if (!filled && filled.error().code != ErrorCode::corrupt) return filled.error();
    if (!filled) return corrupt(filled.error().message);
    body = std::move(filled);
  }
  std::string problem;
  Snapshot snapshot = read_snapshot(*body, problem);
  if (problem.empty()) check_links(snapshot, problem);
  if (!problem.empty()) return corrupt(problem);
  if (auto named = pieces.named(); !named.empty()) {
    snapshot.pieces = {set_of(std::move(named)), snapshot.state_version};
  }
  return snapshot;
}

}  // namespace cairn
