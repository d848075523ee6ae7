// Snapshots of every released format, each beside the definition that it pins. They are never edited.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "definition/definition.h"
#include "interpreter/advance.h"

namespace cairn {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Golden {
 public:
  explicit Golden(const std::string& name) : name_(name) {
    const std::filesystem::path folder = std::filesystem::path(COMPAT_DIR) / "snapshot_v1";
    bytes_ = read_file(folder / (name + ".json"));
    definition_ = load_definition(read_file(folder / (name + ".yaml")), name + ".yaml");
    auto decoded = decode_snapshot(bytes_);
    EXPECT_TRUE(decoded) << name << ": " << (decoded ? "" : decoded.error().message);
    if (decoded) snapshot_ = std::move(*decoded);
    EXPECT_TRUE(definition_.valid()) << name;
    EXPECT_EQ(definition_.digest, snapshot_.program.digest)
        << name << ": the definition was edited or means something else now";
  }

  void send(EventBody what) {
    Event event;
    event.id.value = "later";
    event.at = Timestamp{1'704'100'000, 0};
    event.actor = "test";
    event.what = std::move(what);
    auto advanced = advance(*definition_.program, setting_, snapshot_, event);
    ASSERT_TRUE(advanced) << name_ << ": " << advanced.error().message;
    EXPECT_EQ(advanced->outcome, Advance::Outcome::applied) << name_;
    snapshot_ = std::move(advanced->after);
    while (advanced->unfinished) {
      event.what = Continued{};
      advanced = advance(*definition_.program, setting_, snapshot_, event);
      ASSERT_TRUE(advanced) << advanced.error().message;
      snapshot_ = advanced->after;
    }
  }
  const Wait& wait(WaitKind kind, const std::string& step_part = "") const {
    for (const Wait& open : snapshot_.waits) {
      if (open.kind == kind && open.step.find(step_part) != std::string::npos) return open;
    }
    ADD_FAILURE() << name_ << " has no such wait";
    return snapshot_.waits.front();
  }
  const std::string& bytes() const { return bytes_; }
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  std::string name_;
  std::string bytes_;
  Definition definition_;
  Setting setting_;
  Snapshot snapshot_;
};

TEST(SnapshotV1, EncodesToTheSameBytes) {
  for (const char* name : {"waiting_task", "branches", "incident", "finally_pending", "checkpoint"}) {
    const Golden golden(name);
    EXPECT_EQ(encode_snapshot(golden.snapshot()), golden.bytes()) << name;
  }
}

TEST(SnapshotV1, AWaitingTaskCompletes) {
  Golden golden("waiting_task");
  golden.send(TaskCompleted{{golden.wait(WaitKind::task).target}, "ann", Json::object({{"ok", true}}), {}});
  EXPECT_EQ(golden.snapshot().status, Status::completed);
  EXPECT_EQ(golden.snapshot().output["review"], Json::object({{"ok", true}}));
}

TEST(SnapshotV1, AWaitingTaskExpires) {
  Golden golden("waiting_task");
  const Json deadline = golden.snapshot().strands[0].frames.back().data["deadline"];
  golden.send(TimerFired{{std::string(deadline.as_string())}, {}});
  EXPECT_EQ(golden.snapshot().output["late"], Json(true));
}

TEST(SnapshotV1, SuspendedBranchesGoOnWithWhatWasHeld) {
  Golden golden("branches");
  golden.send(ResumeRequested{});
  ASSERT_TRUE(golden.snapshot().error);
  EXPECT_EQ(golden.snapshot().error->code, "down");
  EXPECT_EQ(golden.snapshot().error->attempt, 3);
  golden.send(SkipRequested{Json(7)});
  EXPECT_EQ(golden.snapshot().status, Status::waiting);
  EXPECT_EQ(golden.snapshot().state["bill"], Json(7));
  golden.send(TaskCompleted{{golden.wait(WaitKind::task).target}, "ann", {}, {}});
  golden.send(SignalReceived{"s-2", "confirmed", Json("10"), {}});
  golden.send(TimerFired{golden.wait(WaitKind::timer, "clock").token, {}});
  // The second round has begun.
  EXPECT_EQ(golden.wait(WaitKind::signal, "partner").key, Json("20"));
}

TEST(SnapshotV1, AnIncidentIsRetried) {
  Golden golden("incident");
  golden.send(StateEdited{Json::object({{"x", 5}})});
  golden.send(RetryRequested{});
  EXPECT_EQ(golden.snapshot().status, Status::waiting);
  EXPECT_EQ(golden.snapshot().state, Json::object({{"x", 5}, {"y", 5}, {"z", 1}}));
}

TEST(SnapshotV1, AnErrorThatFinallyHeldUpGoesOn) {
  Golden golden("finally_pending");
  golden.send(TimerFired{golden.wait(WaitKind::timer).token, {}});
  EXPECT_EQ(golden.snapshot().status, Status::failed);
  EXPECT_EQ(golden.snapshot().error->code, "lost");
  EXPECT_EQ(golden.snapshot().state, Json::object({{"a", 1}, {"cleaned", true}, {"undone", true}}));
}

TEST(SnapshotV1, ACutSliceKeepsItsNow) {
  Golden golden("checkpoint");
  golden.send(Continued{});
  EXPECT_EQ(golden.snapshot().status, Status::completed);
  EXPECT_EQ(golden.snapshot().output["a"], Json("2024-01-01T00:00:00.25Z"));
  EXPECT_EQ(golden.snapshot().output["z"], Json(3));
}

}  // namespace
}  // namespace cairn
