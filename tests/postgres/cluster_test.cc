// Several nodes on one database: each node is notified of the others' changes, the second of two commits is stale,
// programs that use SQL take part, and a dead channel is detected.
#include <mutex>
#include <set>
#include <thread>

#include "postgres/cluster_fixture.h"

namespace cairn {
namespace {

std::string pause_for(const std::string& version) {
  return "cairn: 1\nname: pause\nversion: " + version + "\nsteps:\n  - signal: { name: go, key: = input.key }\n";
}

TEST_F(Cluster, TwoNodesMakeTheTablesAtOnce) {
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::vector<std::string> errors;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EngineOptions options;
      options.store = server_ + "&schema=" + schema_ + "&application_name=" + schema_;
      const auto opened = Engine::open(options);
      const std::lock_guard lock(mutex);
      if (!opened) errors.push_back(opened.error().message);
    });
  }
  threads.clear();
  EXPECT_TRUE(errors.empty()) << errors.front();
}

TEST_F(Cluster, ANewerSchemaIsRefused) {
  node("a");
  nodes_.clear();
  sql("UPDATE " + schema_ + ".wf_schema SET version = 999");
  EngineOptions options;
  options.store = server_ + "&schema=" + schema_;
  const auto refused = Engine::open(options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
}

TEST_F(Cluster, ANewerSchemaEndsTheWritingOfANodeThatRuns) {
  Engine& a = node("a");
  a.run();
  deploy(a, pause_for("1.0.0"));
  start(a, "pause", Json::object({{"key", "1"}}));
  sql("UPDATE " + schema_ + ".wf_schema SET version = version + 1000");
  StartRequest request;
  request.definition = "pause";
  request.input = Json::object({{"key", "1"}});
  const auto refused = a.start(request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
  EXPECT_FALSE(a.broadcast("go", Json("1"), Json(), Duration::of_seconds(60)).has_value());
  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".wf_instances"), "1");
}

TEST_F(Cluster, WhatOneDeploysTheOthersStart) {
  Engine& a = node("a");
  Engine& b = node("b");
  a.run();
  b.run();
  deploy(a, pause_for("1.0.0"));
  const InstanceId first = start(b, "pause", Json::object({{"key", "1"}}));
  deploy(b, pause_for("2.0.0"));
  StartRequest request;
  request.definition = "pause";
  request.version = "2.0.0";
  request.input = Json::object({{"key", "1"}});
  ASSERT_TRUE(a.start(request).has_value());
  ASSERT_TRUE(a.broadcast("go", Json("1"), Json(), Duration::of_seconds(60)).has_value());
  expect_completed(a, first);
}

TEST_F(Cluster, AWaitAndItsSignalOnTwoNodesAtOnceMeetExactlyOnce) {
  Engine& a = node("a");
  Engine& b = node("b");
  a.run();
  b.run();
  deploy(a, pause_for("1.0.0"));
  constexpr int rounds = 60;
  std::vector<InstanceId> instances(rounds);
  {
    std::jthread starts([&] {
      for (int i = 0; i < rounds; ++i) {
        instances[static_cast<std::size_t>(i)] = start(a, "pause", Json::object({{"key", std::to_string(i)}}));
      }
    });
    std::jthread signals([&] {
      for (int i = 0; i < rounds; ++i) {
        EXPECT_TRUE(b.broadcast("go", Json(std::to_string(i)), Json(i), Duration::of_seconds(600)).has_value());
      }
    });
  }
  for (const InstanceId& id : instances) expect_completed(b, id);
  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".wf_signal_q"), "0") << "each was used, by one";
}

TEST_F(Cluster, WhoIsHereOnlyForAMomentIsHeard) {
  Engine& a = node("a");
  a.run();
  deploy(a, pause_for("1.0.0"));
  for (int round = 0; round < 5; ++round) {
    const std::string key = "brief" + std::to_string(round);
    const InstanceId id = start(a, "pause", Json::object({{"key", key}}));
    {
      EngineOptions options;
      options.store = server_ + "&schema=" + schema_ + "&application_name=" + schema_;
      auto client = Engine::open(options);
      ASSERT_TRUE(client.has_value()) << client.error().message;
      ASSERT_TRUE((*client)->broadcast("go", Json(key), Json(), Duration::of_seconds(60)).has_value());
    }
    expect_completed(a, id);
  }
}

TEST_F(Cluster, WhoOnlyAsksHasNoShareOfTheWork) {
  Engine& a = node("a");
  Engine& b = node("b");
  a.run();  // b is a client
  deploy(b, pause_for("1.0.0"));
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "k" + std::to_string(i);
    const InstanceId id = start(b, "pause", Json::object({{"key", key}}));
    ASSERT_TRUE(b.broadcast("go", Json(key), Json(), Duration::of_seconds(60)).has_value());
    expect_completed(b, id);
  }
  // If a share were not processed, every second timer would take a second.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
}

TEST_F(Cluster, AProgramThatSpeaksSqlDoesTheWork) {
  Engine& a = node("a");
  a.run();
  deploy(a,
         "cairn: 1\nname: plain\nversion: 1.0.0\nsteps:\n  - call:\n      worker: { type: plain.add.v1, payload: { x: "
         "20 } }\n"
         "      result: sum\noutput: = state.sum\n");
  const InstanceId id = start(a, "plain");
  const std::string run = sql(
      "UPDATE " + schema_ +
      ".workflow_run SET status = 'leased', leased_by = 'psql', lease_until = now() + interval '30 s' WHERE id = "
      "(SELECT id FROM " +
      schema_ +
      ".workflow_run WHERE type = 'plain.add.v1' AND status = 'pending' ORDER BY priority DESC, run_at FOR UPDATE SKIP "
      "LOCKED LIMIT 1) RETURNING id");
  ASSERT_FALSE(run.empty());
  EXPECT_EQ(sql("SELECT fence || ' ' || attempt || ' ' || leases FROM " + schema_ + ".workflow_run"), "1 0 1")
      << "the attempt counts when it ends";
  sql("UPDATE " + schema_ + ".workflow_run SET lease_until = now() + interval '30 s' WHERE id = '" + run + "'");
  sql("UPDATE " + schema_ + ".workflow_run SET status = 'succeeded', result = '{\"y\": 21}' WHERE id = '" + run + "'");
  expect_completed(a, id);
  EXPECT_EQ(a.find(id)->output, Json::object({{"y", 21}}));
  EXPECT_EQ(sql("SELECT string_agg(event_type, ' ' ORDER BY id) FROM " + schema_ + ".workflow_event"),
            "created leased succeeded");
  // A finished run stays finished for every writer.
  PGresult* refused = PQexec(connection_.get(), ("UPDATE " + schema_ + ".workflow_run SET status = 'pending'").c_str());
  EXPECT_EQ(PQresultStatus(refused), PGRES_FATAL_ERROR);
  PQclear(refused);
}

TEST_F(Cluster, AJobInsertedWithSqlIsDoneByANode) {
  Engine& a = node("a");
  a.handle("default.echo", [](const Work& work) -> WorkDone { return work.payload; });
  a.run();
  sql("INSERT INTO " + schema_ + ".workflow_run (type, payload) VALUES ('default.echo', '{\"x\": 1}')");
  const auto until = std::chrono::steady_clock::now() + 30s;
  std::string status;
  while (status != "succeeded" && std::chrono::steady_clock::now() < until) {
    status = sql("SELECT status FROM " + schema_ + ".workflow_run");
  }
  EXPECT_EQ(status, "succeeded");
}

TEST_F(Cluster, AListenerThatIsKilledComesBackAndLooks) {
  Engine& a = node("a");
  Engine& b = node("b");
  a.run();
  b.run();
  deploy(a, pause_for("1.0.0"));
  for (int round = 0; round < 3; ++round) {
    const std::string key = "k" + std::to_string(round);
    const InstanceId id = start(a, "pause", Json::object({{"key", key}}));
    // Only our own: other suites use the same server.
    sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_notify%' AND "
        "application_name = '" +
        schema_ + "'");
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(a.broadcast("go", Json(key), Json(), Duration::of_seconds(60)).has_value());
    expect_completed(b, id);  // told by the channel, or found by looking after it was lost
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 15s);
  }
}

TEST_F(Cluster, AnIdleClusterAsksNothingButTheEcho) {
  sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  // A separate database: every query there comes from these nodes.
  const std::string database = "idle_" + std::to_string(::getpid());
  sql("CREATE DATABASE " + database);
  const std::string there = " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '" + database + "')";
  const std::string everything = server_;
  server_.replace(server_.find("/cairn?"), 7, "/" + database + "?");
  {
    Engine& a = node("a");
    Engine& b = node("b");
    a.run();
    b.run();
    deploy(a, pause_for("1.0.0"));
    for (int i = 0; i < 20; ++i) start(a, "pause", Json::object({{"key", "never"}}));
  }
  const std::string echoes =
      "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements" + there + " AND query LIKE '%pg_notify%pg_locks%'";
  const auto rest = [&](int beats) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    const int from = std::atoi(sql(echoes).c_str());
    while (std::atoi(sql(echoes).c_str()) < from + beats) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "no echo";
      std::this_thread::sleep_for(20ms);
    }
  };
  rest(4);  // whatever the start brought has passed
  sql("SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = '" + database + "'), 0)");
  rest(6);
  EXPECT_EQ(sql("SELECT coalesce(string_agg(query, E'\\n'), '') FROM pg_stat_statements" + there +
                " AND query NOT LIKE '%pg_notify%pg_locks%'"),
            "");
  for (auto& node : nodes_) node->stop();
  nodes_.clear();
  server_ = everything;
  sql("DROP DATABASE " + database + " WITH (FORCE)");
}

TEST_F(Cluster, AHostLockHasOneOwner) {
  Engine& a = node("a");
  Engine& b = node("b");
  const auto mine = a.store().hold_lock("retention", "a", Duration::of_seconds(60));
  ASSERT_TRUE(mine.has_value() && mine->has_value());
  EXPECT_FALSE(b.store().hold_lock("retention", "b", Duration::of_seconds(60))->has_value());
  ASSERT_TRUE(a.store().drop_lock(**mine).has_value());
  EXPECT_TRUE(b.store().hold_lock("retention", "b", Duration::of_seconds(60))->has_value());
}

TEST_F(Cluster, ALostAnswerToACommitIsLookedUp) {
  Engine& a = node("a");
  a.run();
  deploy(a, pause_for("1.0.0"));
  // Connections break during commits; every start is answered once and exists once.
  std::atomic<bool> over = false;
  std::jthread killer([&] {
    std::unique_ptr<PGconn, Finish> own(PQconnectdb(server_.c_str()));
    while (!over) {
      PQclear(PQexec(own.get(),
                     ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '" +
                      schema_ + "' AND query = 'COMMIT' AND random() < 0.3")
                         .c_str()));
    }
  });
  std::set<std::string> acknowledged;
  for (int i = 0; i < 200; ++i) {
    StartRequest request;
    request.definition = "pause";
    request.input = Json::object({{"key", "never"}});
    request.id = "i" + std::to_string(i);
    const auto started = a.start(request);
    if (started) acknowledged.insert(request.id);
  }
  over = true;
  killer.join();
  EXPECT_GT(acknowledged.size(), 150u);
  for (const std::string& id : acknowledged) EXPECT_EQ(a.find({id})->state_version, 1u) << id;
}

}  // namespace
}  // namespace cairn
