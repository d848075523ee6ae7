// Limits that only a blocked store or a full queue reaches: each answer names its limit and its value, says when to try
// again, and is counted. tests/http/limit_table_test.py has the other limits.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "api/access/api_key.h"
#include "api/api.h"
#include "api/problem.h"
#include "base/id.h"
#include "base/limit_refusals.h"
#include "definition/definition.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit/unit_backlog.h"
#include "http/socket_client_test.h"
#include "runs/run_intake.h"
#include "store/memory/memory_store.h"
#include "store/store_calls.h"
#include "stores/forwarding_store.h"

namespace cairn::api {
namespace {

// Nothing is written, no instance is listed and no key is found until the gate opens.
class FullStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    gate.wait();
    return ForwardingStore::commit(units);
  }
  Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) override {
    gate.wait();
    return ForwardingStore::submit_runs(runs);
  }
  Result<std::optional<ApiKeyRow>> find_api_key(const std::string& secret_hash) override {
    gate.wait();
    return ForwardingStore::find_api_key(secret_hash);
  }
  Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override {
    gate.wait();
    return ForwardingStore::list_instances(filter, page);
  }
  std::latch gate{1};
};

std::uint64_t refusals_by(const std::string& limit) {
  const auto all = limit_refusals();
  const auto found = all.find(limit);
  return found == all.end() ? 0 : found->second;
}

void expect_refusal(const Response& response, const std::string& limit, std::int64_t value) {
  EXPECT_EQ(response.status, 503);
  const auto body = parse_json(response.body);
  ASSERT_TRUE(body) << response.body;
  EXPECT_EQ(body->text_or("limit", ""), limit);
  EXPECT_EQ((*body)["limit_value"], Json(value));
  EXPECT_EQ(body->text_or("type", ""), "/problems/overloaded");
  EXPECT_NE(std::find(response.headers.begin(), response.headers.end(),
                      std::pair<std::string, std::string>("retry-after", "1")),
            response.headers.end());
  EXPECT_GT(refusals_by(limit), 0u);
}

class BusyStore : public testing::Test {
 protected:
  ~BusyStore() override { open_gate(); }
  void open_gate() {
    if (!std::exchange(open_, true)) store_.gate.count_down();
  }

  SystemClock clock_;
  MemoryStore behind_{clock_};
  FullStore store_{behind_};
  bool open_ = false;
};

TEST_F(BusyStore, ByTheCommitQueue) {
  std::optional<Error> refused;
  std::mutex mutex;
  CommitQueue queue(store_);
  for (std::size_t i = 0; i < Limits().commits_waiting_max + 2 * UnitBacklog::batch_max + 1; ++i) {
    queue.submit({}, [&](const Result<CommitOutcome>& outcome, const Unit&) {
      const std::scoped_lock lock(mutex);
      if (!outcome) refused = outcome.error();
    });
  }
  open_gate();
  queue.stop();
  ASSERT_TRUE(refused);
  expect_refusal(problem(*refused), "limits.commits_waiting_max", Limits().commits_waiting_max);
}

TEST_F(BusyStore, ByTheIntakeOfRuns) {
  std::optional<Error> refused;
  std::mutex mutex;
  RunIntake intake(store_, store_);
  RunRow run;
  run.type = "demo.echo.v1";
  for (std::size_t i = 0; i < Limits().runs_waiting_max + 2 * RunIntake::batch_max + 1; ++i) {
    run.id.value = new_uuid(clock_.now());
    intake.submit(run, [&](const Result<SubmittedRun>& submitted) {
      const std::scoped_lock lock(mutex);
      if (!submitted) refused = submitted.error();
    });
  }
  open_gate();
  intake.stop();
  ASSERT_TRUE(refused);
  expect_refusal(problem(*refused), "limits.runs_waiting_max", Limits().runs_waiting_max);
}

// The engine's own queues, and an instance that waits for a signal.
class BusyEngine : public BusyStore {
 protected:
  void SetUp() override {
    {
      const auto before = std::move(*EngineCore::open(behind_, {}));
      const Definition waiting = load_definition(
          "cairn: 1\nname: waiting\nversion: 1.0.0\nsteps: [ { signal: { name: go } } ]\n", "test.yaml");
      ASSERT_TRUE(before->registry().deploy(waiting.program));
      StartRequest request;
      request.definition = "waiting";
      instance_ = before->instances().start(std::move(request))->instance;
    }
    core_ = std::move(*EngineCore::open(store_, {}));
  }
  void TearDown() override {
    open_gate();
    core_.reset();
  }
  // Keeps the error if a limit caused it. Later requests may get another one, because the engine stops.
  void note(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (limit_of(error)) refused_ = error;
  }

  InstanceId instance_;
  std::unique_ptr<EngineCore> core_;
  std::mutex mutex_;
  std::optional<Error> refused_;
};

TEST_F(BusyEngine, ByTheWritesThatAreNotUnits) {
  std::vector<RunRequest> requests(1);
  requests[0].type = "demo.echo.v1";
  const std::size_t waiting_max = Limits().writes_waiting_max;
  for (std::size_t i = 0; i < waiting_max + Deliveries::writes_threads_max + 1; ++i) {
    core_->runs().submit_all(requests, [&](const Result<SubmittedRuns>& submitted) {
      if (!submitted) note(submitted.error());
    });
  }
  open_gate();
  core_->stop();
  ASSERT_TRUE(refused_);
  expect_refusal(problem(*refused_), "limits.writes_waiting_max", static_cast<std::int64_t>(waiting_max));
}

TEST_F(BusyEngine, ByTheDeferredWork) {
  const auto gate = std::make_shared<std::latch>(1);  // the last task that waits for it may outlive this function
  const std::size_t waiting_max = Limits().reads_waiting_max;
  {
    const StoreCallsForbidden like_a_thread_of_the_queue;
    for (std::size_t i = 0; i < waiting_max + Deliveries::deferred_threads_max; ++i) {
      core_->deliveries().defer([gate] { gate->wait(); });
    }
    StartRequest request;
    request.definition = "waiting";
    core_->instances().start(std::move(request), [&](const Result<InstanceAnswer>& answer) { note(answer.error()); });
  }
  gate->count_down();
  ASSERT_TRUE(refused_) << "it was not answered at once";
  expect_refusal(problem(*refused_), "limits.reads_waiting_max", static_cast<std::int64_t>(waiting_max));
}

TEST_F(BusyEngine, ByTheRequestsThatWaitForAnInstance) {
  for (std::size_t i = 0; i < Limits().instance_waiting_max + 2; ++i) {
    SignalRequest signal;
    signal.name = "go";
    core_->instances().signal(instance_, std::move(signal), [&](const Result<InstanceAnswer>& answer) {
      if (!answer) note(answer.error());
    });
  }
  open_gate();
  core_->stop();
  ASSERT_TRUE(refused_);
  expect_refusal(problem(*refused_), "limits.instance_waiting_max",
                 static_cast<std::int64_t>(Limits().instance_waiting_max));
}

// A server that lets two requests wait for a thread, and two expensive ones.
class FullServer : public BusyStore {
 protected:
  void SetUp() override {
    auto opened = EngineCore::open(store_, {});
    ASSERT_TRUE(opened.has_value());
    core_ = std::move(*opened);
  }
  void open_server(bool with_keys) {
    ServerSettings settings;
    settings.http.port = 0;
    settings.http.threads = 1;
    settings.access.required = with_keys;
    settings.requests_waiting_max = waiting_max;
    settings.http.bodies_bytes_max = bodies_bytes_max;
    settings.limits.expensive_max = 1'000;
    auto server = Server::open(*core_, settings);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }
  void TearDown() override {
    open_gate();
    clients_.clear();
    core_->leasing().waiters().stop();
    server_.reset();
  }
  // Sends the request more often than fits, until an answer names the limit. Requests that fit wait for the store.
  std::string refusal_by(const std::string& limit, const std::string& request) {
    constexpr int pause_ms = 20;
    for (int i = 0; i < 500; ++i) {
      clients_.push_back(std::make_unique<http::Client>(server_->port()));
      clients_.back()->send(request);
      std::vector<pollfd> sockets;
      for (const auto& client : clients_) sockets.push_back({client->handle(), POLLIN, 0});
      if (::poll(sockets.data(), sockets.size(), pause_ms) <= 0) continue;
      for (std::size_t at = sockets.size(); at-- > 0;) {
        if (sockets[at].revents == 0) continue;
        const std::string answer = clients_[at]->receive_until("}");
        clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(at));
        if (answer.find(limit) != std::string::npos) return answer;
      }
    }
    return "never refused";
  }

  static constexpr std::size_t waiting_max = 2;
  std::size_t bodies_bytes_max = HttpSettings().bodies_bytes_max;
  std::unique_ptr<EngineCore> core_;
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<http::Client>> clients_;
};

void expect_refusal_text(const std::string& answer, const std::string& limit) {
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("\r\nretry-after: 1\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\"limit\":\"" + limit + "\",\"limit_value\":2,"), std::string::npos) << answer;
  EXPECT_GT(refusals_by(limit), 0u);
}

// The values of each body take 480 000 bytes, its text 40 000.
TEST_F(FullServer, RefusesBodiesWhileTheValuesOfOthersWaitForTheStore) {
  constexpr std::size_t bodies_max = 1'000'000;
  bodies_bytes_max = bodies_max;
  open_server(false);
  std::string body = R"({"type":"demo.echo.v1","payload":[0)";
  for (int i = 1; i < 20'000; ++i) body += ",0";
  body += "]}";
  const std::string request =
      "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  clients_.push_back(std::make_unique<http::Client>(server_->port()));
  clients_.back()->send(request);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (server_->metrics().find("cairn_http_body_bytes 48") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "the values do not count";
    std::this_thread::yield();
  }
  const std::string answer = refusal_by("http.bodies_bytes_max", request);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("\"limit_value\":1000000"), std::string::npos) << answer;
}

TEST(Unavailable, SaysWhenToTryAgain) {
  const Response response = problem(Error{ErrorCode::unavailable, "another transaction has locked run r"});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers, (http::Headers{{"retry-after", "1"}}));
}

TEST_F(FullServer, RefusesRequestsThatWouldWaitForAThread) {
  open_server(false);
  expect_refusal_text(
      refusal_by("limits.requests_waiting_max", "GET /v1/instances HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      "limits.requests_waiting_max");
}

TEST_F(FullServer, RefusesExpensiveRequestsThatWouldWait) {
  open_server(false);
  expect_refusal_text(
      refusal_by("limits.requests_waiting_max", "GET /v1/instances?q=x HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      "limits.requests_waiting_max");
}

TEST_F(FullServer, RefusesHeadsWhoseCallersWouldWaitToBeIdentified) {
  open_server(true);
  const auto key = new_api_key("ann", {"starter"}, Json(), "", std::nullopt);
  ASSERT_TRUE(key);
  const std::uint64_t before = refusals_by("limits.requests_waiting_max");
  expect_refusal_text(refusal_by("limits.requests_waiting_max",
                                 "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key->secret +
                                     "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"),
                      "limits.requests_waiting_max");
  EXPECT_GT(refusals_by("limits.requests_waiting_max"), before);
}

}  // namespace
}  // namespace cairn::api
