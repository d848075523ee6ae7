// Large values that a store keeps apart from the snapshots (instance/pieces.h). Every case runs with units that were
// encoded ahead, as those of an engine are, and with units that the store encodes itself.
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "sample.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(Pieces);

namespace {

constexpr std::size_t bytes_min = 2000;
constexpr std::array ways = {true, false};  // encoded ahead or not

Json doc(char letter, std::size_t length = 5000) { return Json(std::string(length, letter)); }

Advance begin_with(const std::string& id, Json input) {
  Advance advance = sample::begin(id);
  advance.after.input = std::move(input);
  return advance;
}

Unit unit_of(Advance advance, bool ahead) {
  Unit unit;
  unit.advances.push_back(std::move(advance));
  unit.actor = "node";
  if (ahead) encode_ahead(unit, bytes_min);
  return unit;
}

std::string id_of(const char* name, bool ahead) { return std::string(name) + (ahead ? "-ahead" : "-later"); }

}  // namespace

TEST_P(Pieces, ALargeValueComesBack) {
  keep_apart(bytes_min);
  for (const bool ahead : ways) {
    const std::string id = id_of("a", ahead);
    const Unit unit = unit_of(begin_with(id, Json::object({{"doc", doc('x')}, {"n", 1}})), ahead);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    const auto found = must(store().find_snapshot({id}));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, unit.advances[0].after);
    EXPECT_EQ(must(store().list_pieces({id})).size(), 1u);
    ASSERT_NE(found->pieces.set, nullptr);
    EXPECT_EQ(found->pieces.set->hashes, must(store().list_pieces({id})));
    EXPECT_EQ(found->pieces.state_version, 1u);
  }
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
  if (has_sql()) {
    EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "1");
    EXPECT_EQ(sql("SELECT max(schema_version), max(length(snapshot)) < 1500 FROM cairn.wf_runtime_states")[0][0], "2");
  }
}

TEST_P(Pieces, ASmallInstanceHasNone) {
  keep_apart(bytes_min);
  for (const bool ahead : ways) {
    ASSERT_EQ(kind_of_commit(unit_of(sample::begin(id_of("a", ahead)), ahead)), CommitOutcome::Kind::done);
  }
  EXPECT_TRUE(must(store().list_pieces({"a-ahead"})).empty());
  EXPECT_TRUE(must(store().list_pieces({"unknown"})).empty());
  if (has_sql()) {
    EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "0");
    EXPECT_EQ(sql("SELECT max(schema_version) FROM cairn.wf_runtime_states")[0][0], "1");
  }
}

TEST_P(Pieces, AStepKeepsWhatItDidNotChangeAndRemovesWhatItReplaced) {
  keep_apart(bytes_min);
  for (const bool ahead : ways) {
    const std::string id = id_of("a", ahead);
    Advance first = begin_with(id, doc('i'));
    first.after.state.set("one", doc('1'));
    Unit unit = unit_of(std::move(first), ahead);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    const auto before = must(store().list_pieces({id}));
    ASSERT_EQ(before.size(), 2u);

    Advance second = sample::next(unit.advances[0].after);
    second.after.state.set("step", "two");
    unit = unit_of(std::move(second), ahead);
    EXPECT_EQ(unit.pieces.size(), 0u);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    EXPECT_EQ(must(store().list_pieces({id})), before);

    Advance third = sample::next(unit.advances[0].after);
    third.after.state.set("one", doc('2'));
    unit = unit_of(std::move(third), ahead);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    const auto now = must(store().list_pieces({id}));
    EXPECT_EQ(now.size(), 2u);
    EXPECT_NE(now, before);
    EXPECT_EQ(must(store().find_snapshot({id})), unit.advances[0].after);

    Advance last = sample::next(unit.advances[0].after);
    last.after.state = Json::object();
    last.after.input = Json();
    unit = unit_of(std::move(last), ahead);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    EXPECT_TRUE(must(store().list_pieces({id})).empty());
    must(store().collect_pieces(100));
    EXPECT_TRUE(must(store().piece_faults(10)).empty());
    if (has_sql()) {
      EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "0");
    }
  }
}

TEST_P(Pieces, InstancesShareAPieceUntilTheLastOneIsGone) {
  keep_apart(bytes_min);
  Unit both;
  both.actor = "node";
  both.advances.push_back(begin_with("parent", doc('x')));
  both.advances.push_back(begin_with("child", doc('x')));
  encode_ahead(both, bytes_min);
  ASSERT_EQ(kind_of_commit(both), CommitOutcome::Kind::done);
  if (has_sql()) {
    EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "1");
  }
  EXPECT_EQ(must(store().list_pieces({"parent"})), must(store().list_pieces({"child"})));

  const auto end = [&](const Snapshot& before) {
    Advance advance = sample::next(before);
    sample::end(advance);
    ASSERT_EQ(kind_of_commit(unit_of(std::move(advance), true)), CommitOutcome::Kind::done);
    clock_.advance(Duration::of_seconds(10));
    RetentionRequest old;
    old.statuses = {Status::completed};
    old.ended_before = clock_.now();
    EXPECT_EQ(must(store().retire_instances(old)).instances, 1u);
  };
  end(both.advances[0].after);
  EXPECT_EQ(must(store().find_snapshot({"child"})), both.advances[1].after);
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
  end(both.advances[1].after);
  must(store().collect_pieces(100));
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
  if (has_sql()) {
    EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "0");
  }
}

TEST_P(Pieces, AReplacedPieceStaysForOthers) {
  keep_apart(bytes_min);
  const Unit a = unit_of(begin_with("a", doc('x')), true), b = unit_of(begin_with("b", doc('x')), true);
  ASSERT_EQ(kind_of_commit(a), CommitOutcome::Kind::done);
  ASSERT_EQ(kind_of_commit(b), CommitOutcome::Kind::done);
  Advance next = sample::next(a.advances[0].after);
  next.after.input = doc('y');
  ASSERT_EQ(kind_of_commit(unit_of(std::move(next), true)), CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"b"})), b.advances[0].after);
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
}

// The second unit continues from the first one, and takes up again what the first one drops.
TEST_P(Pieces, UnitsOfOneBatchMayFollowEachOther) {
  keep_apart(bytes_min);
  Unit start = unit_of(begin_with("a", doc('x')), true);
  ASSERT_EQ(kind_of_commit(start), CommitOutcome::Kind::done);
  std::vector<Unit> batch;
  Advance drops = sample::next(start.advances[0].after);
  drops.after.input = doc('y');
  batch.push_back(unit_of(std::move(drops), true));
  Advance takes = sample::next(batch[0].advances[0].after);
  takes.after.state.set("again", doc('x'));
  takes.after.input = Json();
  batch.push_back(unit_of(std::move(takes), true));
  const auto outcomes = must(store().commit(batch));
  ASSERT_EQ(outcomes.size(), 2u);
  for (const CommitOutcome& outcome : outcomes) EXPECT_EQ(outcome.kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), batch[1].advances[0].after);
  EXPECT_EQ(must(store().list_pieces({"a"})).size(), 1u);
  must(store().collect_pieces(100));
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
}

TEST_P(Pieces, OneUnitMayAdvanceAnInstanceSeveralTimes) {
  keep_apart(bytes_min);
  for (const bool ahead : ways) {
    const std::string id = id_of("a", ahead);
    Unit start = unit_of(begin_with(id, doc('x')), ahead);
    ASSERT_EQ(kind_of_commit(start), CommitOutcome::Kind::done);
    Unit unit;
    unit.actor = "node";
    unit.advances.push_back(sample::next(start.advances[0].after));
    unit.advances.back().after.input = doc('y');
    unit.advances.push_back(sample::next(unit.advances[0].after));
    unit.advances.back().after.input = doc('z');
    if (ahead) encode_ahead(unit, bytes_min);
    ASSERT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
    EXPECT_EQ(must(store().find_snapshot({id})), unit.advances[1].after);
    EXPECT_EQ(must(store().list_pieces({id})).size(), 1u);
  }
  must(store().collect_pieces(100));
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
}

TEST_P(Pieces, ARefusedUnitLeavesNone) {
  keep_apart(bytes_min);
  for (const bool ahead : ways) {
    const std::string id = id_of("a", ahead);
    Unit start = unit_of(begin_with(id, doc('x')), ahead);
    ASSERT_EQ(kind_of_commit(start), CommitOutcome::Kind::done);
    const auto before = must(store().list_pieces({id}));
    Advance late = sample::next(start.advances[0].after);
    late.from_state_version = 7;
    late.after.state_version = 8;
    late.after.input = doc('y');
    EXPECT_EQ(kind_of_commit(unit_of(std::move(late), ahead)), CommitOutcome::Kind::stale);
    EXPECT_EQ(must(store().list_pieces({id})), before);
    EXPECT_EQ(must(store().find_snapshot({id})), start.advances[0].after);
    if (has_sql()) {
      EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_pieces")[0][0], "1");
    }
  }
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
}

// A version of which the next one's node knows nothing: the store compares with what it has.
TEST_P(Pieces, AnUnknownVersionIsComparedWithTheUses) {
  keep_apart(bytes_min);
  Unit first = unit_of(begin_with("a", doc('x')), true);
  ASSERT_EQ(kind_of_commit(first), CommitOutcome::Kind::done);
  Advance second = sample::next(first.advances[0].after);
  second.after.state.set("more", doc('y'));
  Unit unknown = unit_of(std::move(second), false);  // its snapshot still has the pieces of version 1
  ASSERT_EQ(kind_of_commit(unknown), CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().list_pieces({"a"})).size(), 2u);
  Advance third = sample::next(unknown.advances[0].after);
  third.after.state = Json::object();
  const Unit last = unit_of(std::move(third), true);
  ASSERT_EQ(kind_of_commit(last), CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().list_pieces({"a"})).size(), 1u);
  EXPECT_EQ(must(store().find_snapshot({"a"})), last.advances[0].after);
  must(store().collect_pieces(100));
  EXPECT_TRUE(must(store().piece_faults(10)).empty());
}

// On a server the commits overlap: one removes the last use of a piece while another one adds a use.
TEST_P(Pieces, CommitsMayAddAndDropTheSamePiecesAtTheSameTime) {
  if (forgets_marks()) GTEST_SKIP() << "one store for all threads";
  keep_apart(bytes_min);
  constexpr unsigned threads = 4, versions = 40;
  Store& shared = store();
  std::vector<Snapshot> last(threads);
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        std::minstd_rand random(t + 1);
        Advance advance = begin_with("t" + std::to_string(t), doc('a'));
        for (unsigned version = 1; version <= versions; ++version) {
          const Unit unit = unit_of(std::move(advance), true);
          const auto outcomes = shared.commit({&unit, 1});
          if (!outcomes || outcomes->front().kind != CommitOutcome::Kind::done) {
            ++failed;
            return;
          }
          last[t] = unit.advances[0].after;
          advance = sample::next(last[t]);
          const auto letter = static_cast<char>('a' + random() % 3);
          (random() % 2 == 0 ? advance.after.input : advance.after.state.edit("doc")) =
              random() % 4 == 0 ? Json() : doc(letter);
        }
      });
    }
  }
  ASSERT_EQ(failed, 0);
  must(shared.collect_pieces(1000));
  EXPECT_TRUE(must(shared.piece_faults(10)).empty());
  for (const Snapshot& snapshot : last) {
    EXPECT_EQ(must(shared.find_snapshot(snapshot.instance)), snapshot);
    const auto used = must(shared.list_pieces(snapshot.instance));
    EXPECT_EQ(used, snapshot.pieces.set ? snapshot.pieces.set->hashes : std::vector<std::string>());
  }
}

TEST_P(Pieces, ALostOrDamagedPieceIsNamedAndHarmsOnlyItsInstances) {
  if (!has_sql()) GTEST_SKIP() << "the memory store has no SQL";
  keep_apart(bytes_min);
  Advance advance = begin_with("a", Json::object({{"report", Json::object({{"doc", doc('x')}})}}));
  ASSERT_EQ(kind_of_commit(unit_of(std::move(advance), true)), CommitOutcome::Kind::done);
  const Unit other = unit_of(begin_with("b", doc('y')), true);
  ASSERT_EQ(kind_of_commit(other), CommitOutcome::Kind::done);
  const std::string hash = must(store().list_pieces({"a"})).at(0);

  sql("UPDATE cairn.wf_pieces SET body = replace(body, 'xxx', 'xyx') WHERE hash = '" + hash + "'");
  auto found = store().find_snapshot({"a"});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
  EXPECT_NE(found.error().message.find(hash + " (snapshot.business.input.report.doc) is damaged"), std::string::npos)
      << found.error().message;

  sql("DELETE FROM cairn.wf_pieces WHERE hash = '" + hash + "'");
  found = store().find_snapshot({"a"});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
  EXPECT_NE(found.error().message.find(hash + " (snapshot.business.input.report.doc) is missing"), std::string::npos)
      << found.error().message;
  const auto faults = must(store().piece_faults(10));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].message.find("instance a uses a piece that does not exist"), std::string::npos)
      << faults[0].message;
  EXPECT_EQ(must(store().find_snapshot({"b"})), other.advances[0].after);
  sql("DELETE FROM cairn.wf_piece_uses WHERE piece NOT IN (SELECT n FROM cairn.wf_pieces)");
}

TEST_P(Pieces, FaultsAreFound) {
  if (!has_sql()) GTEST_SKIP() << "the memory store has no SQL";
  keep_apart(bytes_min);
  ASSERT_EQ(kind_of_commit(unit_of(begin_with("a", doc('x')), true)), CommitOutcome::Kind::done);
  const std::string hash = must(store().list_pieces({"a"})).at(0);
  sql("UPDATE cairn.wf_piece_uses SET instance = 4711");
  auto faults = must(store().piece_faults(10));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], (PieceFault{hash, "an instance that does not exist uses it"}));
  sql("DELETE FROM cairn.wf_piece_uses");
  faults = must(store().piece_faults(10));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], (PieceFault{hash, "no instance uses it"}));
  EXPECT_TRUE(must(store().piece_faults(0)).empty());
  sql("DELETE FROM cairn.wf_pieces");
}

}  // namespace cairn
