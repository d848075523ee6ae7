// Three workers that know only the table `workflow_run` beside three nodes, and one of the six killed every second. All
// jobs end, every attempt is counted once, and the store is consistent. The statements are literal on purpose: they are
// those of small workers that were written for another engine.
//
//   CAIRN_SQL_JOBS  how many jobs (1000)
//   CAIRN_SQL_SEED  which jobs fail how often, and which worker is killed
#include <fcntl.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "base/clock.h"
#include "cairn/engine.h"
#include "store/open.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr const char* worker_flag = "--be-a-worker";
constexpr int max_attempts = 4;

class Session {
 public:
  Session(const std::string& server, const std::string& schema) : connection_(PQconnectdb(server.c_str())) {
    ask("SET search_path = " + schema);
  }
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // All values, row by row. A refused statement changes nothing and returns nothing.
  std::vector<std::string> ask(const std::string& text) {
    PGresult* result = PQexec(connection_, text.c_str());
    std::vector<std::string> values;
    for (int row = 0; row < PQntuples(result); ++row) {
      for (int column = 0; column < PQnfields(result); ++column) values.emplace_back(PQgetvalue(result, row, column));
    }
    PQclear(result);
    return values;
  }

 private:
  PGconn* connection_;
};

// What a job does: it takes some time and fails as often as its payload says.
bool execute(const Json& payload, int attempts_before) {
  std::this_thread::sleep_for(std::chrono::milliseconds(payload["ms"].as_integer()));
  return attempts_before >= payload["failures"].as_integer();
}

// A worker as it is usually written. `named`: its session says who it is.
[[noreturn]] void be_a_program(const std::string& server, const std::string& schema, const std::string& name,
                               bool named) {
  Session session(server, schema);
  if (named) session.ask("SET cairn.worker = '" + name + "'");
  for (;;) {
    const auto run = session.ask(
        "UPDATE workflow_run SET status = 'leased', leased_by = '" + name +
        "', lease_until = now() + interval '2 seconds' WHERE id = (SELECT id FROM workflow_run WHERE status IN "
        "('pending', 'leased') AND deleted_at IS NULL AND run_at <= now() AND (lease_until IS NULL OR lease_until < "
        "now()) AND (type LIKE 'billing.%' OR type LIKE 'media.%') ORDER BY priority DESC, run_at LIMIT 1 FOR UPDATE "
        "SKIP LOCKED) RETURNING id, payload, attempt, max_attempts");
    if (run.empty()) {
      std::this_thread::sleep_for(20ms);  // such a worker polls
      continue;
    }
    const std::string where = " WHERE id = '" + run[0] + "'";
    const int attempt = std::stoi(run[2]);
    session.ask("UPDATE workflow_run SET lease_until = now() + interval '2 seconds'" + where + " AND leased_by = '" +
                name + "'");
    if (execute(*parse_json(run[1]), attempt)) {
      session.ask("UPDATE workflow_run SET status = 'succeeded', result = '{\"by\": \"" + name +
                  "\"}', lease_until = NULL, leased_by = NULL" + where);
    } else if (attempt + 1 >= std::stoi(run[3])) {
      session.ask(
          "UPDATE workflow_run SET status = 'failed', lease_until = NULL, leased_by = NULL, error = '{\"code\": "
          "\"e\"}', "
          "last_error = 'the last time'" +
          where);
    } else {
      session.ask(
          "UPDATE workflow_run SET status = 'pending', attempt = attempt + 1, run_at = now() + interval '10 "
          "milliseconds', lease_until = NULL, leased_by = NULL, error = '{\"code\": \"e\"}', last_error = 'again'" +
          where);
    }
  }
}

[[noreturn]] void be_a_node(const std::string& server, const std::string& schema, const std::string& name) {
  EngineOptions options;
  options.store = server + "&schema=" + schema;
  options.node = name;
  options.lease = 2s;
  options.workers = 1;
  auto engine = Engine::open(options);
  if (!engine) ::_exit(3);
  (*engine)->handle("billing.job.v1", [](const Work& work) -> WorkDone {
    if (execute(work.payload, work.attempt - 1)) return Json::object({{"by", "node"}});
    Failure failure;
    failure.failure_class = FailureClass::transport;
    failure.code = "e";
    return failure;
  });
  (*engine)->run();
  for (;;) ::pause();
}

class WorkerProcess {
 public:
  WorkerProcess(const std::string& server, const std::string& schema, const std::string& kind,
                const std::string& name) {
    static const std::string program = std::filesystem::canonical("/proc/self/exe");
    const char* arguments[] = {program.c_str(), worker_flag,  server.c_str(), schema.c_str(),
                               kind.c_str(),    name.c_str(), nullptr};
    EXPECT_EQ(::posix_spawn(&process_, program.c_str(), nullptr, nullptr, const_cast<char**>(arguments), environ), 0);
  }
  ~WorkerProcess() {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself: " << status;
  }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

 private:
  pid_t process_ = -1;
};

TEST(SqlWorkers, BesideNodesEveryJobEndsAndEveryAttemptCountsOnce) {
  const char* given = std::getenv("CAIRN_TEST_POSTGRES");
  if (given == nullptr) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
  const char* asked_seed = std::getenv("CAIRN_SQL_SEED");
  const char* asked_jobs = std::getenv("CAIRN_SQL_JOBS");
  const unsigned seed = asked_seed != nullptr ? static_cast<unsigned>(std::atoll(asked_seed)) : std::random_device{}();
  const int jobs = asked_jobs != nullptr ? std::atoi(asked_jobs) : 1000;
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string server = given, schema = "sql_workers_" + std::to_string(::getpid());
  SystemClock clock;
  auto store = open_store(server + "&schema=" + schema, clock);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  Session session(server, schema);
  std::mt19937 random(seed);
  for (int i = 0; i < jobs; ++i) {
    // Most succeed at once; some fail as often as they may.
    const unsigned failures = random() % 4 == 0 ? 1 + random() % max_attempts : 0;
    session.ask(
        "INSERT INTO workflow_run (type, payload, max_attempts, backoff_ms) VALUES ('billing.job.v1', '{\"ms\": " +
        std::to_string(20 + random() % 60) + ", \"failures\": " + std::to_string(failures) + "}', " +
        std::to_string(max_attempts) + ", 10)");
  }
  const auto begun = Steady::now();
  const std::array<std::string, 6> kinds = {"program", "program", "named", "node", "node", "node"};
  std::array<std::unique_ptr<WorkerProcess>, 6> workers;
  int kills = 0;
  const auto start = [&](std::size_t i) {
    workers[i].reset();
    workers[i] = std::make_unique<WorkerProcess>(server, schema, kinds[i], "w" + std::to_string(i));
  };
  for (std::size_t i = 0; i < workers.size(); ++i) start(i);
  const auto open_jobs = [&] {
    return std::stoi(session.ask("SELECT count(*) FROM workflow_run WHERE status IN ('pending', 'leased')").at(0));
  };
  for (auto kill_at = begun + 1s; open_jobs() > 0 && Steady::now() < begun + 300s;) {
    std::this_thread::sleep_for(50ms);  // the interval of the kills is the test
    if (Steady::now() < kill_at) continue;
    kill_at += 1s;
    start(random() % workers.size());
    ++kills;
  }
  for (auto& worker : workers) worker.reset();
  const double seconds = std::chrono::duration<double>(Steady::now() - begun).count();

  EXPECT_EQ(open_jobs(), 0) << "a job has not ended";
  EXPECT_EQ(session.ask("SELECT count(*) FROM workflow_run").at(0), std::to_string(jobs));
  const auto wrong = session.ask(
      "SELECT r.id || ' ' || r.status || ', attempt ' || r.attempt || ': ' || string_agg(e.event_type || ' ' || "
      "e.attempt, "
      "', ' ORDER BY e.id) FROM workflow_run r JOIN workflow_event e ON e.workflow_id = r.id GROUP BY r.id HAVING "
      "count(*) FILTER (WHERE e.event_type = 'leased') <> r.attempt OR r.attempt > r.max_attempts OR (r.status = "
      "'failed' "
      "AND r.attempt < r.max_attempts) OR count(*) FILTER (WHERE e.event_type IN ('succeeded', 'failed')) <> 1 LIMIT "
      "3");
  EXPECT_TRUE(wrong.empty()) << wrong.at(0);
  // A job that had more attempts than failures ends well: only kills take attempts from it.
  EXPECT_EQ(session
                .ask("SELECT count(*) FROM workflow_run WHERE status = 'succeeded' AND attempt <= (payload ->> "
                     "'failures')::integer")
                .at(0),
            "0");
  const auto by = session.ask(
      "SELECT count(*) FILTER (WHERE result ->> 'by' = 'node'), count(*) FILTER (WHERE result ->> 'by' <> 'node'), "
      "count(*) "
      "FILTER (WHERE status = 'failed'), sum(attempt) FROM workflow_run");
  EXPECT_NE(by.at(0), "0");
  EXPECT_NE(by.at(1), "0");
  const auto report = verify_store(**store);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.invariant << " " << finding.subject << ": " << finding.message;
  }
  std::printf("%d jobs in %.1f s, %d workers killed: %s by nodes, %s by programs, %s failed, %s attempts; seed %u\n",
              jobs, seconds, kills, by.at(0).c_str(), by.at(1).c_str(), by.at(2).c_str(), by.at(3).c_str(), seed);
  store->reset();
  session.ask("SET client_min_messages = error; DROP SCHEMA " + schema + " CASCADE");
}

}  // namespace
}  // namespace cairn

int main(int count, char** arguments) {
  if (count == 6 && std::string(arguments[1]) == cairn::worker_flag) {
    const std::string kind = arguments[4];
    if (kind == "node") cairn::be_a_node(arguments[2], arguments[3], arguments[5]);
    cairn::be_a_program(arguments[2], arguments[3], arguments[5], kind == "named");
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
