// Every pending run is in the queue, the end of every lease is watched, and the queue contains nothing else. Tests that
// `cairn verify` finds violations, that the documented repair works, and that it finds nothing while nodes work.
#include <atomic>
#include <random>

#include "postgres/run_queue_fixture.h"
#include "upkeep/verify.h"

namespace cairn {

namespace {

class VerifyQueue : public RunQueue {
 protected:
  // The repair of a run in docs/verify.md.
  static constexpr const char* put_back = "UPDATE cairn.workflow_run SET priority = priority WHERE id = '";
  static constexpr const char* watch =
      "UPDATE cairn.workflow_run SET lease_until = lease_until - interval '1 ms' WHERE id = '";
  static constexpr const char* take_out = "DELETE FROM cairn.wf_run_q WHERE NOT lapsed AND run = '";

  using Found = std::multiset<std::string>;
  Found faults() {
    const auto list = store_->queue_faults(5000);
    EXPECT_TRUE(list.has_value()) << (list ? "" : list.error().message);
    Found found;
    for (const QueueFault& fault : list ? *list : std::vector<QueueFault>()) {
      found.insert(name_of(fault.kind) + fault.run.value);
    }
    return found;
  }
  static std::string name_of(QueueFault::Kind kind) {
    switch (kind) {
      case QueueFault::Kind::not_queued: return "not queued ";
      case QueueFault::Kind::not_watched: return "not watched ";
      case QueueFault::Kind::stray: return "stray ";
    }
    return "";
  }
  std::vector<Finding> findings() {
    auto report = verify_store(*store_);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report ? std::move(report->findings) : std::vector<Finding>();
  }
  void mend(const char* how, const RunRow& run) { sql(how + run.id.value + "'"); }
  // Changes rows with the triggers switched off.
  void behind_the_queue(const std::string& text) {
    sql("SET session_replication_role = replica");
    sql(text);
    sql("SET session_replication_role = DEFAULT");
  }
  void change(RunChange::Kind kind, const RunRow& run) {
    RunChange asked;
    asked.kind = kind;
    asked.run = run.id;
    asked.fence = run.fence;
    asked.length = Duration::of_ms(1);
    asked.reason = "no longer needed";
    const auto changed = store_->change_run(asked);
    EXPECT_TRUE(changed.has_value()) << (changed ? "" : changed.error().message);
  }
  void end(const RunRow& run) {
    const RunEnd ended{run.id, run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
    EXPECT_TRUE(store_->end_runs(std::span(&ended, 1)).has_value());
  }
  static std::string where(const RunRow& run) { return " WHERE id = '" + run.id.value + "'"; }
};

}  // namespace

TEST_F(VerifyQueue, FindsNothingWhateverHappensToRuns) {
  open();
  const auto others = submit(300);
  submit(20, 1);
  EXPECT_EQ(faults(), Found());
  const auto leased = lease_many(100);
  ASSERT_EQ(leased.size(), 100u);
  EXPECT_EQ(lease_many(3).size(), 3u);
  change(RunChange::Kind::release, leased[0]);
  change(RunChange::Kind::retry, leased[1]);
  change(RunChange::Kind::cancel, leased[2]);
  change(RunChange::Kind::heartbeat, leased[3]);
  end(leased[4]);
  change(RunChange::Kind::cancel, others[298]);
  change(RunChange::Kind::remove, others[299]);
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'x', lease_until = now() + interval '1 h'" +
      where(others[297]));
  sql("UPDATE cairn.workflow_run SET type = 'default.b'" + where(others[296]));
  sql("UPDATE cairn.workflow_run SET type = 'default.b'" + where(leased[5]));
  sql("DELETE FROM cairn.workflow_run" + where(others[295]));
  EXPECT_EQ(faults(), Found());
  EXPECT_TRUE(findings().empty());
}

TEST_F(VerifyQueue, ALeaseThatHasEndedIsInTheQueue) {
  open();
  submit(4);
  sql("UPDATE cairn.workflow_run SET max_attempts = 1");
  const auto leased = lease_many(4);
  ASSERT_EQ(leased.size(), 4u);
  sql("UPDATE cairn.workflow_run SET lease_until = now() - interval '1 s'");
  EXPECT_EQ(lease_many(4).size(), 0u) << "no attempt is left";
  ASSERT_EQ(sql("SELECT count(*) FROM cairn.wf_run_q WHERE lapsed"), "4");
  sql("DELETE FROM cairn.wf_lease_q");  // when they would have ended
  EXPECT_EQ(faults(), Found());
  change(RunChange::Kind::heartbeat, leased[0]);
  end(leased[1]);
  end(leased[2]);
  sql("DELETE FROM cairn.workflow_run" + where(leased[2]));
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_run_q WHERE lapsed"), "4");
  EXPECT_EQ(faults(), Found()) << "those that have ended go by themselves";
}

TEST_F(VerifyQueue, FindsAPendingRunThatIsNotInTheQueue) {
  open();
  const auto runs = submit(3);
  sql("DELETE FROM cairn.wf_run_q WHERE run = '" + runs[1].id.value + "'");
  EXPECT_EQ(lease_many(10).size(), 2u) << "so nobody leases it";
  EXPECT_EQ(faults(), (Found{"not queued " + runs[1].id.value}));
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].invariant, "I-33 queue");
  EXPECT_EQ(found[0].subject, "run " + runs[1].id.value);
  EXPECT_NE(found[0].message.find("docs/verify.md"), std::string::npos);
  mend(put_back, runs[1]);
  EXPECT_EQ(faults(), Found());
  EXPECT_EQ(lease_many(10).size(), 1u);
}

TEST_F(VerifyQueue, FindsAnEntryThatIsNotItsRuns) {
  open();
  const auto runs = submit(3);
  sql("UPDATE cairn.wf_run_q SET type = 'default.b' WHERE run = '" + runs[0].id.value + "'");
  sql("UPDATE cairn.wf_run_q SET lapsed = true WHERE run = '" + runs[1].id.value + "'");
  EXPECT_EQ(faults(), (Found{"not queued " + runs[0].id.value, "not queued " + runs[1].id.value}));
}

TEST_F(VerifyQueue, SaysWhenThereAreMoreThanItNames) {
  open();
  submit(1250);
  sql("DELETE FROM cairn.wf_run_q");
  EXPECT_EQ(faults().size(), 1250u);
  const auto found = findings();
  ASSERT_EQ(found.size(), 1001u);
  EXPECT_EQ(found.back().subject, "store");
}

TEST_F(VerifyQueue, FindsALeasedRunThatNobodyWatches) {
  open();
  submit(3);
  const auto leased = lease_many(2);
  ASSERT_EQ(leased.size(), 2u);
  sql("DELETE FROM cairn.wf_lease_q");
  EXPECT_EQ(faults(), (Found{"not watched " + leased[0].id.value, "not watched " + leased[1].id.value}));
  EXPECT_EQ(findings().size(), 2u);
  mend(watch, leased[0]);
  EXPECT_EQ(faults(), (Found{"not watched " + leased[1].id.value}));
  sql("UPDATE cairn.workflow_run SET lease_until = now() - interval '1 s'" + where(leased[1]));
  mend(watch, leased[1]);
  EXPECT_EQ(faults(), Found());
  EXPECT_EQ(lease_many(10).size(), 2u) << "the one that was not leased, and the one whose lease has ended";
}

TEST_F(VerifyQueue, FindsWhatWaitsWithoutBeingPending) {
  open();
  const auto runs = submit(5);
  behind_the_queue("UPDATE cairn.workflow_run SET status = 'cancelled'" + where(runs[0]));
  behind_the_queue("UPDATE cairn.workflow_run SET deleted_at = now()" + where(runs[1]));
  behind_the_queue("DELETE FROM cairn.workflow_run" + where(runs[2]));
  EXPECT_EQ(faults(), (Found{"stray " + runs[0].id.value, "stray " + runs[1].id.value, "stray " + runs[2].id.value}));
  EXPECT_EQ(findings().size(), 3u);
  for (const std::size_t i : {0, 1, 2}) mend(take_out, runs[i]);
  EXPECT_EQ(faults(), Found());
  EXPECT_EQ(lease_many(10).size(), 2u);
}

TEST_F(VerifyQueue, LooksAtEveryPartOfALargeStore) {
  open();
  behind_the_queue("INSERT INTO cairn.workflow_run (type) SELECT 'default.a' FROM generate_series(1, 41000)");
  sql("INSERT INTO cairn.wf_run_q SELECT type, priority, run_at, n, id, false, false FROM cairn.workflow_run");
  ASSERT_GT(std::stoi(sql("SELECT pg_relation_size('cairn.wf_run_q') / 8192")), 250) << "more than one part";
  EXPECT_EQ(faults(), Found());
  Found expected;
  for (const std::string number : {"1", "20000", "20001", "41000"}) {
    expected.insert("not queued " + sql("SELECT id FROM cairn.workflow_run WHERE n = " + number));
    sql("DELETE FROM cairn.wf_run_q WHERE n = " + number);
  }
  for (const std::string number : {"2", "15000", "40999"}) {
    expected.insert("stray " + sql("SELECT id FROM cairn.workflow_run WHERE n = " + number));
    behind_the_queue("UPDATE cairn.workflow_run SET status = 'succeeded' WHERE n = " + number);
  }
  EXPECT_EQ(faults(), expected);
}

TEST_F(VerifyQueue, FindsNothingWhileNodesAreAtWork) {
  open();
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::atomic<bool> over = false;
  std::vector<std::jthread> workers;
  for (unsigned number = 0; number < 3; ++number) {
    workers.emplace_back([&, number] {
      std::minstd_rand random(seed + number);
      while (!over) {
        const auto fresh = submit(random() % 2 == 0 ? 120 : 5, static_cast<std::int64_t>(random() % 2));
        change(RunChange::Kind::cancel, fresh[random() % fresh.size()]);
        for (const RunRow& run : lease_many(random() % 2 == 0 ? 100 : 4)) {
          switch (random() % 16) {
            case 0: change(RunChange::Kind::release, run); break;
            case 1: change(RunChange::Kind::retry, run); break;
            case 2: change(RunChange::Kind::cancel, run); break;
            case 3: change(RunChange::Kind::heartbeat, run); break;  // for so short that it ends
            case 4: break;
            case 5:
              change(RunChange::Kind::release, run);
              change(RunChange::Kind::heartbeat, run);  // too late: another worker may have it
              break;
            default: end(run);
          }
        }
      }
    });
  }
  for (int i = 0; i < 100 && !HasFailure(); ++i) EXPECT_EQ(faults(), Found());
  over = true;
  workers.clear();
  EXPECT_EQ(faults(), Found());
}

TEST_F(VerifyQueue, NamesInstancesWithoutTheirState) {
  open();
  sql("INSERT INTO cairn.wf_instances_base (n, id, definition, definition_version, digest, status, started_at, "
      "changed_at) "
      "SELECT n, 'lost-' || n, 'd', '1', 'x', 'waiting', now(), now() FROM generate_series(1, 3) n");
  const auto found = store_->find_instance({"lost-2"});
  ASSERT_FALSE(found.has_value()) << "an acknowledged instance is never absent";
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
  ASSERT_FALSE(store_->find_snapshot({"lost-2"}).has_value());
  std::vector<std::string> named;
  PageRequest page{1, ""};
  do {
    const auto rows = store_->list_instances({}, page);
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    EXPECT_TRUE(rows->items.empty());
    named.insert(named.end(), rows->unreadable.begin(), rows->unreadable.end());
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  ASSERT_EQ(named.size(), 3u);
  EXPECT_TRUE(named[0].starts_with("instance lost-3: ")) << named[0];
  const auto all = findings();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].subject, "instance lost-1");
}

TEST_F(VerifyQueue, NamesATaskWithoutItsInstance) {
  open();
  sql("INSERT INTO cairn.wf_tasks (id, instance, instance_id, token, step, name, title, status, state_version, roles, "
      "exclude, "
      "priority, created_at, changed_at) VALUES ('t', 1, 'gone', 'w', 's', 'n', 't', 'open', 1, '{}', '{}', 0, now(), "
      "now()); "
      "INSERT INTO cairn.wf_task_events (task, kind, at, actor) VALUES ('t', 'created', now(), '')");
  const auto found = findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].invariant, "I-12 tasks");
  EXPECT_EQ(found[0].subject, "task t");
}

TEST_F(VerifyQueue, ALetterThatCannotBeReadDoesNotHideTheOthers) {
  open();
  for (const char* payload : {"1", "{\"x\": 1e400}", "3"}) {
    sql(std::string("INSERT INTO cairn.workflow_run (type, payload, max_attempts) VALUES ('default.a', '") + payload +
        "', 0)");
  }
  const auto letters = store_->list_dead_letters({});
  ASSERT_TRUE(letters.has_value()) << letters.error().message;
  ASSERT_EQ(letters->items.size(), 3u);
  EXPECT_EQ(letters->items[2].envelope["payload"], Json(3));
  const Json& envelope = letters->items[1].envelope;
  EXPECT_EQ(std::string(envelope.text_or("run", "")),
            sql("SELECT id FROM cairn.workflow_run ORDER BY n OFFSET 1 LIMIT 1"));
  EXPECT_EQ(std::string(envelope.text_or("type", "")), "default.a");
  EXPECT_NE(envelope["payload"].find("unreadable"), nullptr);
  EXPECT_TRUE(findings().empty());
}

// No statement may take as long as its timeout, or retention never gets further.
TEST_F(VerifyQueue, RetentionRemovesManyTreesInParts) {
  open();
  sql("INSERT INTO cairn.wf_instances_base (n, id, definition, definition_version, digest, status, parent, started_at, "
      "changed_at, ended_at) "
      "SELECT i, 'i-' || i, 'd', '1', 'x', 'completed', CASE WHEN i % 100 > 0 THEN 'i-' || (i - i % 100) END, now(), "
      "now(), "
      "now() - interval '1 h' FROM generate_series(0, 4999) i");
  std::size_t gone = 0;
  for (bool more = true; more;) {
    const auto outcome = store_->retire_instances({{Status::completed}, Timestamp::of_unix_ms(4'102'444'800'000), 100});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_LT(outcome->instances, 2500u);
    gone += outcome->instances;
    more = outcome->more;
  }
  EXPECT_EQ(gone, 5000u);
}

TEST_F(VerifyQueue, AnEventWithALongSubjectHoldsUpNoOthers) {
  open();
  // Random text, because the server compresses what it puts into an index.
  const std::string subject = sql("SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 400)");
  const auto insert = [&](const std::string& about, const char* payload) {
    sql("INSERT INTO cairn.outbox_event (event_type, aggregate_id, payload) VALUES ('a.b', '" + about + "', '" +
        payload + "')");
  };
  insert(subject, "1");
  insert("short", "2");
  insert(subject, "3");
  const std::vector<SinkFilter> sinks{{"crm", {}}};
  std::vector<std::string> order;
  while (order.size() < 3) {
    const auto claimed = store_->claim_outbox(sinks, {"crm", 10, Duration::of_seconds(30)});
    ASSERT_TRUE(claimed.has_value()) << claimed.error().message;
    ASSERT_FALSE(claimed->empty());
    std::vector<SinkResult> results;
    for (const OutboxRow& row : *claimed) {
      order.push_back(write_json(row.event.data));
      EXPECT_EQ(row.event.subject, order.back() == "2" ? "short" : subject);
      results.push_back({row.sequence, SinkResult::Kind::taken, 1, store_->now()});
    }
    ASSERT_TRUE(store_->record_sink_results("crm", results).has_value());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"1", "2", "3"}));
}

}  // namespace cairn
