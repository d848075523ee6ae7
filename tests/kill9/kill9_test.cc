// A process works on a SQLite store and is killed with SIGKILL at random points, again and again.
// Afterwards every invariant holds, nothing that was acknowledged is missing, everything comes to its
// end, and an outside ledger has seen each effect under one key.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "base/clock.h"
#include "cairn/engine.h"
#include "store/open.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr const char* definition = R"(
cairn: 1
name: ordeal
version: 1.0.0
steps:
  - task: { name: Approve, result: approval }
  - call:
      worker: { type: effect.v1, payload: { instance: = workflow.instance_id } }
      retry: { attempts: 50, backoff: 1ms, cap: 10ms }
      result: effect
  - wait: 2ms
  - subworkflow: { name: inner, input: { n: 1, approval: = state.approval }, result: inner }
  - set: { approval: = state.inner }
  - wait: 1ms
output: = state.effect
)";
constexpr const char* inner = R"(
cairn: 1
name: inner
version: 1.0.0
checkpoint: step
steps:
  - set: { a: 1 }
  - wait: 1ms
  - set: { b: 2 }
output: = state.b
)";

int kills() {
  const char* given = std::getenv("CAIRN_KILLS");
  return given ? std::atoi(given) : 10;
}

void append(int file, const std::string& line) {
  // One write a line: a line is there or it is not.
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(3);
}

std::unique_ptr<Engine> open_engine(const std::string& folder, int ledger) {
  EngineOptions options;
  options.store = "sqlite:" + folder + "/store.db";
  options.lease = std::chrono::milliseconds(200);
  auto engine = Engine::open(options);
  if (!engine) {
    std::fprintf(stderr, "cannot open: %s\n", engine.error().message.c_str());
    return nullptr;
  }
  (*engine)->handle("effect.v1", [ledger](const Work& work) -> WorkDone {
    append(ledger, work.idempotency_key + "\n");
    return Json(work.idempotency_key);
  });
  return std::move(*engine);
}

// Works until it is killed; tells each acknowledgement on `acks` and in the file `journal`.
[[noreturn]] void work(const std::string& folder, int acks) {
  const int ledger = ::open((folder + "/ledger").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  const int journal = ::open((folder + "/journal").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  auto engine = open_engine(folder, ledger);
  if (!engine || !engine->deploy(inner) || !engine->deploy(definition)) ::_exit(4);
  engine->run();
  std::atomic<std::size_t> completions = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (;;) {
        StartRequest request;
        request.definition = "ordeal";
        const auto started = engine->start(request);
        if (!started) ::_exit(5);
        append(journal, "S " + started->instance.value + "\n");
        append(acks, ".");
        const auto tasks = engine->tasks(started->instance);
        if (!tasks || tasks->size() != 1) ::_exit(6);
        // Large enough to be a piece, which the child shares. Some instances have the same one.
        const Json payload = Json::object({{"scan", std::string(20'000 + 10 * (++completions % 7), 'x')}});
        const auto done = engine->complete(tasks->front().id, payload, {});
        if (!done) ::_exit(7);
        append(journal, "C " + started->instance.value + "\n");
        append(acks, ".");
      }
    });
  }
  threads.clear();
  ::_exit(8);
}

TEST(Kill9, NothingAcknowledgedIsLost) {
  const std::string folder = testing::TempDir() + "cairn_kill9_" + std::to_string(::getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));

  for (int round = 0; round < kills(); ++round) {
    int acks[2];
    ASSERT_EQ(::pipe(acks), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(acks[0]);
      work(folder, acks[1]);
    }
    ::close(acks[1]);
    const int until = std::uniform_int_distribution<int>(1, 60)(random);
    char ack = 0;
    for (int seen = 0; seen < until; ++seen) {
      if (::read(acks[0], &ack, 1) != 1) break;
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(acks[0]);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "it ended by itself with " << WEXITSTATUS(status);

    SystemClock clock;
    auto store = open_store("sqlite:" + folder + "/store.db", clock);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const auto report = verify_store(**store);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const Finding& finding : report->findings) {
      ADD_FAILURE() << "round " << round << ": " << finding.invariant << ": " << finding.subject << ": "
                    << finding.message;
    }
  }

  std::set<std::string> started;
  std::set<std::string> completed;
  {
    std::ifstream journal(folder + "/journal");
    std::string kind, id;
    while (journal >> kind >> id) (kind == "S" ? started : completed).insert(id);
  }
  ASSERT_FALSE(started.empty());

  // Let everything come to its end.
  const int ledger = ::open((folder + "/ledger").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  auto engine = open_engine(folder, ledger);
  ASSERT_NE(engine, nullptr);
  engine->run();
  const auto tasks = engine->tasks();
  ASSERT_TRUE(tasks.has_value());
  for (const OpenTaskView& task : *tasks) {
    EXPECT_FALSE(completed.contains(task.instance.value)) << "its acknowledged completion is lost";
    EXPECT_TRUE(engine->complete(task.id, Json::object(), {}).has_value());
  }
  InstanceFilter filter;
  filter.definition = "ordeal";
  std::set<std::string> keys;
  std::set<std::string> found;
  PageRequest page{500, ""};
  do {
    const auto rows = engine->store().list_instances(filter, page);
    ASSERT_TRUE(rows.has_value());
    for (const InstanceRow& row : rows->items) {
      const auto end = engine->wait(row.id, std::chrono::seconds(60));
      ASSERT_TRUE(end.has_value()) << end.error().message;
      EXPECT_EQ(end->status, Status::completed) << row.id.value << (end->error ? ": " + end->error->message : "");
      if (end->output.is_string()) keys.insert(std::string(end->output.as_string()));
      found.insert(row.id.value);
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  for (const std::string& id : started)
    EXPECT_TRUE(found.contains(id)) << "the acknowledged start " << id << " is lost";

  engine->stop();
  const auto report = verify_store(engine->store());
  ASSERT_TRUE(report.has_value());
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.invariant << ": " << finding.subject << ": " << finding.message;
  }
  EXPECT_EQ(keys.size(), found.size()) << "each instance has one effect key of its own";
  std::set<std::string> seen;
  std::ifstream effects(folder + "/ledger");
  for (std::string key; effects >> key;) seen.insert(key);
  EXPECT_EQ(seen, keys) << "the ledger has seen exactly the effects that were committed";
  std::printf("kills %d, instances %zu, acknowledged starts %zu, completions %zu\n", kills(), found.size(),
              started.size(), completed.size());
  engine.reset();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace cairn
