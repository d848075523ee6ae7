// Several nodes on one PostgreSQL database. One-wait is started and completed by one process and by three, each with
// its share of the outstanding requests. Reports what this adds to the log and to the database. Also measures how long
// a signal takes to resume a waiting instance, compared with a bare commit of the same rows on the same server.
#include <libpq-fe.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "store/postgres/wire/url.h"
#include "workloads/database_cost.h"
#include "workloads/definitions.h"
#include "workloads/postgres_ceiling.h"
#include "workloads/postgres_rows.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

constexpr int nodes_most = 3;
constexpr std::size_t signals = 400;

// The size of the database.
struct Size {
  double log_bytes = 0, database_bytes = 0, instances = 0;
};

Result<Size> size_of(pg_conn* connection, const std::string& schema) {
  const std::string text =
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), pg_database_size(current_database()), "
      "(SELECT count(*) FROM " +
      schema + ".wf_instances_base)";
  PGresult* result = PQexec(connection, text.c_str());
  Size size;
  const bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
  if (good) {
    size = {std::stod(PQgetvalue(result, 0, 0)), std::stod(PQgetvalue(result, 0, 1)),
            std::stod(PQgetvalue(result, 0, 2))};
  }
  PQclear(result);
  if (!good) return Error{ErrorCode::unavailable, PQerrorMessage(connection)};
  return size;
}

[[noreturn]] void leave(int told, const std::string& line) {
  const std::string text = line + "\n";
  ::_exit(::write(told, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

// Runs in a child process: reports that it is ready, waits for the start and writes its figures.
[[noreturn]] void be_node(const Plan& plan, int outstanding, int told, int go) {
  leave_database_to_parent();
  auto stage = Stage::open(plan, std::array{one_wait});
  if (!stage) leave(told, stage.error().message);
  stage->engine->run();
  char word = 'r';
  if (::write(told, &word, 1) != 1 || ::read(go, &word, 1) != 1) ::_exit(1);
  Engine& engine = *stage->engine;
  const Json input = order_input();
  const Json answer = Json::object({{"ok", true}});
  const auto row = callback_loop(plan, outstanding, [&](int, const OpDone& done) {
    engine.start(request_for("one-wait", input), [&engine, &answer, done](Result<InstanceAnswer> begun) {
      if (!begun) return done(begun.error());
      engine.signal(begun->instance, "go", answer, [done](Result<InstanceAnswer> ended) {
        done(ended ? expect(ended->status, Status::completed) : Result<void>(ended.error()));
      });
    });
  });
  if (!row) leave(told, row.error().message);
  leave(told, std::to_string(row->count) + " " + std::to_string(row->rate) + " " + std::to_string(row->p50_ms) + " " +
                  std::to_string(row->p99_ms) + " " + std::to_string(row->max_ms) + " " +
                  std::to_string(row->cost.cpu_s) + " ok");
}

struct Node {
  pid_t process = -1;
  int told = -1, go = -1;

  Node(const Plan& plan, int outstanding) {
    int from[2], to[2];
    if (::pipe(from) != 0 || ::pipe(to) != 0) return;
    process = ::fork();
    if (process == 0) {
      ::close(from[0]);
      ::close(to[1]);
      be_node(plan, outstanding, from[1], to[0]);
    }
    ::close(from[1]);
    ::close(to[0]);
    told = from[0];
    go = to[1];
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() {
    if (process > 0) {
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
    ::close(told);
    ::close(go);
  }
  bool ready() const {
    char word = 0;
    return process > 0 && ::read(told, &word, 1) == 1 && word == 'r';
  }
  bool begin() const { return ::write(go, "g", 1) == 1; }
  std::string figures() const {
    std::string line;
    char letter = 0;
    while (::read(told, &letter, 1) == 1 && letter != '\n') line.push_back(letter);
    return line;
  }
};

Result<Row> run_nodes_at(const Plan& plan, int count, int outstanding) {
  CAIRN_TRY(const postgres::Target target, postgres::read_url(plan.store));
  const Error failed{ErrorCode::internal, "a node could not be measured"};
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < count; ++i) {
    // One after the other: the first one creates the tables.
    nodes.push_back(std::make_unique<Node>(plan, std::max(1, (outstanding + i) / count)));
    if (!nodes.back()->ready()) return failed;
  }
  CAIRN_TRY(const PostgresHandle connection, connect_to(target.conninfo));
  CAIRN_TRY(const Size before, size_of(connection.get(), target.schema));
  for (const auto& node : nodes) {
    if (!node->begin()) return failed;
  }
  Row row;
  row.outstanding = outstanding;
  for (const auto& node : nodes) {
    double rate = 0, p50 = 0, p99 = 0, most = 0, cpu = 0;
    unsigned long long done = 0;
    const std::string line = node->figures();
    if (std::sscanf(line.c_str(), "%llu %lf %lf %lf %lf %lf ok", &done, &rate, &p50, &p99, &most, &cpu) != 6) {
      return line.empty() ? failed : Error{ErrorCode::internal, line};
    }
    row.count += done;
    row.rate += rate;
    row.p50_ms = std::max(row.p50_ms, p50);
    row.p99_ms = std::max(row.p99_ms, p99);
    row.max_ms = std::max(row.max_ms, most);
    row.cost.cpu_s += cpu;
  }
  row.rate_low = row.rate_high = row.rate;
  CAIRN_TRY(const Size after, size_of(connection.get(), target.schema));
  const double written = std::max(1.0, after.instances - before.instances);
  row.extra = Json::object({{"wal_bytes", (after.log_bytes - before.log_bytes) / written},
                            {"database_bytes", (after.database_bytes - before.database_bytes) / written}});
  return row;
}

Result<Row> resume_by_signal(const Plan& plan) {
  CAIRN_TRY(const PostgresCeiling bare, PostgresCeiling::of_one_wait(plan));
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
  stage.engine->run();
  const Json input = order_input();
  const Json answer = Json::object({{"ok", true}});
  Plan brief = plan;
  brief.seconds = std::min(plan.seconds, 0.5);
  Latencies resumed;
  std::vector<double> commits;
  const Meter meter;
  // Alternating, so that other load on the machine affects both.
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < plan.scaled(signals) / 4 + 1; ++i) {
      CAIRN_TRY(const InstanceAnswer begun, stage.engine->start(request_for("one-wait", input)));
      const auto asked = std::chrono::steady_clock::now();
      CAIRN_TRY(const InstanceAnswer ended, stage.engine->signal(begun.instance, "go", answer));
      resumed.add(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - asked).count());
      CAIRN_TRY_VOID(expect(ended.status, Status::completed));
    }
    CAIRN_TRY(const Row beside, bare.run(brief, 1));
    commits.push_back(beside.p50_ms);
  }
  resumed.sort();
  std::sort(commits.begin(), commits.end());
  const double commit_ms = (commits[1] + commits[2]) / 2;
  Row row;
  row.workload = "nodes";
  row.variant = "signal to resumed, one at a time";
  row.outstanding = 1;
  row.count = resumed.count();
  row.cost = meter.read();
  row.p50_ms = resumed.at(0.5);
  row.p99_ms = resumed.at(0.99);
  row.max_ms = resumed.max();
  row.extra = Json::object({{"bare_commit_p50_ms", commit_ms}, {"times_a_commit", row.p50_ms / commit_ms}});
  return row;
}

}  // namespace

Result<std::vector<Row>> run_nodes(const Plan& plan) {
  std::vector<Row> rows;
  if (!plan.store.starts_with("postgres")) return rows;  // the other stores belong to one process
  for (const int count : {1, nodes_most}) {
    for (const int outstanding : plan.outstanding) {
      if (outstanding < count) continue;
      plan.progress(std::to_string(count) + " nodes, " + std::to_string(outstanding) + " outstanding");
      CAIRN_TRY(Row row, median_of(plan, [&] { return run_nodes_at(plan, count, outstanding); }));
      row.workload = "nodes";
      row.variant = count == 1 ? "one process" : std::to_string(count) + " processes";
      rows.push_back(std::move(row));
    }
  }
  plan.progress("signal to resumed");
  CAIRN_TRY(Row row, resume_by_signal(plan));
  rows.push_back(std::move(row));
  return rows;
}

}  // namespace cairn::bench
