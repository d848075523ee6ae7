// How long work that one node has written waits until another one picks it up. The cases: normally, after the listener
// was killed, when its connections have become black holes, behind a transaction pooler, with hints from Redis and
// after Redis has died.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/log.h"
#include "cairn/engine.h"
#include "daemon.h"
#include "proxy.h"
#include "store/store.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Ms = std::chrono::duration<double, std::milli>;

constexpr auto back_to_normal_within = 15s;
constexpr auto normal = 500ms;  // it is some milliseconds, but the machine may be busy

class Listener : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    const auto begin = server_.find("host=") + 5;
    server_folder_ = server_.substr(begin, server_.find('&', begin) - begin);
    schema_ = "listener_" + std::to_string(::getpid());
    folder_ = "/tmp/cairn-listener-" + std::to_string(::getpid());
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::all);
    sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
    LogSettings log;
    log.write = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      said_ += line;
      said_ += '\n';
      changed_.notify_all();
    };
    configure_log(log);
  }
  void TearDown() override {
    if (server_.empty()) return;
    if (giver_) {
      taker_->stop();
      giver_->stop();
      const auto report = verify_store(giver_->store());
      ASSERT_TRUE(report.has_value()) << report.error().message;
      for (const Finding& finding : report->findings) ADD_FAILURE() << finding.invariant << ": " << finding.message;
    }
    taker_.reset();
    giver_.reset();
    between_.reset();
    pooler_.reset();
    configure_log({});
    // Those of a node that was cut off may still be at a statement, which the server does not know.
    sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%" +
        schema_ + "%'");
    sql("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
    fs::remove_all(folder_);
    if (HasFailure()) std::printf("%s", said_.c_str());
  }

  std::string sql(const std::string& text) {
    PGconn* connection = PQconnectdb(server_.c_str());
    PGresult* result = PQexec(connection, text.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << text << PQerrorMessage(connection);
    const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    PQfinish(connection);
    return value;
  }

  static std::unique_ptr<Engine> open(const std::string& url, const std::string& name) {
    EngineOptions options;
    options.store = url;
    options.node = name;
    options.lease = 2s;
    auto opened = Engine::open(options);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      std::abort();
    }
    return std::move(*opened);
  }
  std::string direct() const { return server_ + "&schema=" + schema_ + "&application_name=" + schema_; }

  // One node that starts instances, another at `url` that does their work.
  void open_both(const std::string& url, const std::string& more = "") {
    giver_ = open(direct() + more, "giver");
    const auto deployed = giver_->deploy(
        "cairn: 1\nname: pick\nversion: 1.0.0\nsteps:\n  - call:\n      worker: { type: pick.v1, payload: { n: 1 } "
        "}\n");
    ASSERT_TRUE(deployed.has_value()) << deployed.error().message;
    giver_->run();
    taker_ = open(url + more, "taker");
    taker_->handle("pick.v1", [this](const Work&) -> WorkDone {
      const std::lock_guard lock(mutex_);
      ++picked_;
      changed_.notify_all();
      return Json(1);
    });
    taker_->run();
  }

  // From the start's answer to the handler's call.
  std::chrono::nanoseconds latency() {
    std::unique_lock lock(mutex_);
    const std::size_t before = picked_;
    lock.unlock();
    StartRequest request;
    request.definition = "pick";
    const auto started = giver_->start(request);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    const auto begun = Clock::now();
    lock.lock();
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return picked_ > before; })) << "never picked up";
    return Clock::now() - begun;
  }
  // Some in a row, so that a lucky one does not count.
  bool is_normal(std::chrono::nanoseconds limit = normal) {
    bool fine = true;
    for (int i = 0; i < 3; ++i) fine = latency() < limit && fine;
    return fine;
  }
  void expect_back_to_normal(const char* what) {
    const auto begun = Clock::now();
    std::chrono::nanoseconds first = latency();
    while (!is_normal()) {
      ASSERT_LT(Clock::now() - begun, back_to_normal_within) << what;
    }
    std::printf("%s: first picked up after %.0f ms, normal again after %.0f ms\n", what, Ms(first).count(),
                Ms(Clock::now() - begun).count());
    EXPECT_LT(Clock::now() - begun, back_to_normal_within) << what;
  }
  bool said(const std::string& text, std::chrono::seconds limit = 30s) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return said_.find(text) != std::string::npos; });
  }
  void forget_what_was_said() {
    const std::lock_guard lock(mutex_);
    said_.clear();
  }

  std::string server_, server_folder_, schema_, folder_;
  // The proxy is destroyed after the engine.
  std::unique_ptr<Proxy> between_;
  std::unique_ptr<Daemon> pooler_;
  std::unique_ptr<Engine> giver_, taker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string said_;
  std::size_t picked_ = 0;
};

TEST_F(Listener, ThatIsKilledComesBack) {
  open_both(direct());
  expect_back_to_normal("at the start");
  for (int round = 0; round < 3; ++round) {
    forget_what_was_said();
    // Only our own: other suites use the same server.
    sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_notify%' AND "
        "application_name = '" +
        schema_ + "'");
    expect_back_to_normal("after a kill");
    EXPECT_TRUE(said("postgres.channel_lost reason=\"the connection was closed\""));
    EXPECT_TRUE(said("postgres.listening"));
  }
}

TEST_F(Listener, WhoseConnectionsAreBlackHolesComesBack) {
  between_ = std::make_unique<Proxy>(server_folder_ + "/.s.PGSQL.5432");
  open_both("postgresql://127.0.0.1:" + std::to_string(between_->port()) + "/cairn?user=cairn&schema=" + schema_);
  expect_back_to_normal("through a proxy");
  forget_what_was_said();
  between_->swallow();
  expect_back_to_normal("after all connections became black holes");
  EXPECT_TRUE(said("postgres.channel_lost reason=\"no answer came\""));
  EXPECT_TRUE(said("postgres.connections_distrusted"));
  EXPECT_TRUE(said("postgres.listening"));
}

// A commit whose answer is lost is asked about until the server is back, for a minute; not by a node that stops.
TEST_F(Listener, ThatStopsDoesNotWaitForAServerThatIsAway) {
  between_ = std::make_unique<Proxy>(server_folder_ + "/.s.PGSQL.5432");
  const auto node = open(
      "postgresql://127.0.0.1:" + std::to_string(between_->port()) + "/cairn?user=cairn&schema=" + schema_, "node");
  const auto deployed = node->deploy("cairn: 1\nname: waits\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n");
  ASSERT_TRUE(deployed.has_value()) << deployed.error().message;
  node->run();
  PGconn* locker = PQconnectdb(server_.c_str());
  PQclear(PQexec(locker, ("BEGIN; LOCK TABLE " + schema_ + ".wf_instances_base IN EXCLUSIVE MODE").c_str()));
  StartRequest request;
  request.definition = "waits";
  std::optional<Error> refused;
  node->start(request, [&](Result<InstanceAnswer> started) {
    const std::lock_guard lock(mutex_);
    refused = started ? Error{ErrorCode::internal, "it was started"} : started.error();
    changed_.notify_all();
  });
  const auto waiting = [&] {
    return sql("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '" + schema_ +
               ".wf_instances_base'::regclass") == "1";
  };
  for (const auto until = Clock::now() + 30s; !waiting();) ASSERT_LT(Clock::now(), until) << "no commit is under way";
  between_.reset();
  const auto begun = Clock::now();
  node->stop();
  EXPECT_LT(Clock::now() - begun, 20s);
  {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 20s, [&] { return refused.has_value(); }));
    EXPECT_EQ(refused->code, ErrorCode::unavailable);
    EXPECT_TRUE(refused->message.starts_with("outcome_unknown")) << refused->message;
  }
  PQfinish(locker);
}

TEST_F(Listener, BehindATransactionPoolerLooksOnATimer) {
  if (!fs::exists("/usr/sbin/pgbouncer")) GTEST_SKIP() << "pgbouncer is not installed";
  std::ofstream(folder_ + "/pgbouncer.ini")
      << "[databases]\ncairn = host=" << server_folder_ << " dbname=cairn user=cairn\n[pgbouncer]\nlisten_addr =\n"
      << "unix_socket_dir = " << folder_ << "\nlisten_port = 6432\nauth_type = any\npool_mode = transaction\n"
      << "ignore_startup_parameters = extra_float_digits\nlogfile = " << folder_ << "/log\n";
  std::vector<std::string> words{"/usr/sbin/pgbouncer", folder_ + "/pgbouncer.ini"};
  if (::getuid() == 0)
    words.insert(words.begin(), {"setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"});
  pooler_ = std::make_unique<Daemon>(words);
  const auto until = Clock::now() + 30s;
  while (!fs::exists(folder_ + "/.s.PGSQL.6432")) ASSERT_LT(Clock::now(), until) << "pgbouncer does not start";
  const std::string url = "postgresql:///cairn?host=" + folder_ + "&port=6432&user=cairn&schema=" + schema_;
  open_both(url);
  EXPECT_TRUE(said("postgres.no_channel"));
  EXPECT_TRUE(said("there is a pooler in between"));
  for (int i = 0; i < 3; ++i) {
    const auto waited = latency();
    std::printf("behind a pooler: %.0f ms\n", Ms(waited).count());
    EXPECT_LT(waited, back_to_normal_within);
  }
  taker_.reset();
  giver_.reset();

  // With hints it is quick, and without them again as before.
  const std::string socket = folder_ + "/redis.sock";
  const auto start_redis = [&] {
    auto redis = std::make_unique<Daemon>(
        std::vector<std::string>{"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly",
                                 "no", "--logfile", folder_ + "/redis.log", "--dir", folder_});
    while (!fs::exists(socket) && Clock::now() < until + 30s) {
    }
    return redis;
  };
  if (!fs::exists("/usr/bin/redis-server")) GTEST_SKIP() << "redis-server is not installed";
  auto redis = start_redis();
  open_both(url, "&hints=unix:" + socket);
  expect_back_to_normal("behind a pooler, with hints");
  for (int round = 0; round < 3; ++round) {
    forget_what_was_said();
    redis->kill();
    fs::remove(socket);
    EXPECT_LT(latency(), back_to_normal_within) << "Redis is gone: later, and nothing else";
    EXPECT_TRUE(said("hints.lost"));
    redis = start_redis();
    EXPECT_TRUE(said("hints.listening"));
    expect_back_to_normal("Redis is back");
  }
}

}  // namespace
}  // namespace cairn
