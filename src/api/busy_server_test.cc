// A server with a blocked store, with disconnecting clients, and during draining: over a socket, on a store that the
// test blocks.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <thread>

#include "api/api.h"
#include "api/telemetry/readiness.h"
#include "http/request_threads.h"
#include "http/socket_client_test.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::api {
namespace {

// Blocks listing instances and the write check of the store until it is released.
class WaitingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
  }
  void let_go() {
    const std::scoped_lock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  void wait_until_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

  Result<void> check_writable() override {
    wait();
    return ForwardingStore::check_writable();
  }
  // A trail without an end.
  Result<Page<AuditRow>> list_audit(const PageRequest&) override {
    {
      const std::scoped_lock lock(mutex_);
      ++pages_;
      changed_.notify_all();
    }
    Page<AuditRow> page;
    page.next_cursor = "1";
    return page;
  }
  void wait_until_pages(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pages_ >= count; });
  }
  Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override {
    wait();
    return ForwardingStore::list_instances(filter, page);
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    --waiting_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::size_t waiting_ = 0;
  std::size_t pages_ = 0;
};

class BusyServer : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = EngineCore::open(store_, {});
    ASSERT_TRUE(opened.has_value());
    core_ = std::move(*opened);
    HttpSettings settings;
    settings.port = 0;
    settings.threads = 1;
    auto server = Server::open(*core_, settings);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }
  void TearDown() override {
    store_.let_go();
    core_->leasing().waiters().stop();
    server_.reset();
  }
  std::string ask(const std::string& method, const std::string& path, const std::string& body = "") const {
    const http::Client client(server_->port());
    client.send(text(method, path, body));
    return client.receive_all();
  }
  static std::string text(const std::string& method, const std::string& path, const std::string& body = "") {
    return method + " " + path +
           " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  SystemClock clock_;
  MemoryStore behind_{clock_};
  WaitingStore store_{behind_};
  std::unique_ptr<EngineCore> core_;
  std::unique_ptr<Server> server_;
};

TEST_F(BusyServer, IsAliveWhileEveryRequestWaitsForTheStore) {
  store_.hold();
  std::vector<std::unique_ptr<http::Client>> clients;
  for (std::size_t i = 0; i < http::RequestThreads::threads_usual + 8; ++i) {
    clients.push_back(std::make_unique<http::Client>(server_->port()));
    clients.back()->send(text("GET", "/v1/instances"));
  }
  store_.wait_until_held(http::RequestThreads::threads_usual);
  EXPECT_NE(ask("GET", "/livez").find("200 OK"), std::string::npos);
  EXPECT_NE(ask("GET", "/healthz").find("200 OK"), std::string::npos);
  // /readyz answers 503 although the store still blocks.
  EXPECT_NE(ask("GET", "/readyz").find("503"), std::string::npos);
  EXPECT_NE(ask("GET", "/readyz").find("503"), std::string::npos);
  store_.let_go();
  for (const auto& client : clients) EXPECT_NE(client->receive_all().find("200 OK"), std::string::npos);
}

TEST_F(BusyServer, LongChecksEndWithTheServer) {
  std::vector<std::unique_ptr<http::Client>> clients;
  for (const char* const path : {"/v1/audit/verify", "/v1/verify"}) {
    clients.push_back(std::make_unique<http::Client>(server_->port()));
    clients.back()->send(text("GET", path));
    store_.wait_until_pages(2);
  }
  server_->drain(std::chrono::seconds(30));
  for (const auto& client : clients) {
    const std::string answer = client->receive_all();
    EXPECT_NE(answer.find("503"), std::string::npos) << answer;
  }
  server_.reset();
}

TEST_F(BusyServer, RunsOfAWorkerThatHasGoneAreForOthers) {
  RunRequest request;
  request.type = "demo.echo.v1";
  ASSERT_TRUE(core_->runs().submit(request).has_value());
  LeaseRequest lease;
  lease.worker = "gone";
  lease.types = {request.type};
  lease.length = Duration::of_seconds(3600);
  auto leased = store_.lease_runs(lease);
  ASSERT_TRUE(leased.has_value());
  ASSERT_EQ(leased->size(), 1u);
  core_->leasing().waiters().give_back(std::move(*leased));
  const std::string answer =
      ask("POST", "/v1/runs/lease", R"({"worker":"next","types":["demo.echo.v1"],"wait":"60s"})");
  EXPECT_NE(answer.find("demo.echo.v1"), std::string::npos) << answer;
}

TEST_F(BusyServer, LeasesNothingForAWorkerThatHasGone) {
  RunRequest request;
  request.type = "demo.echo.v1";
  const auto submitted = core_->runs().submit(request);
  ASSERT_TRUE(submitted.has_value());
  LeaseRequest lease;
  lease.worker = "gone";
  lease.types = {request.type};
  lease.length = Duration::of_seconds(3600);
  bool answered = false;
  core_->leasing().waiters().ask(
      lease, std::chrono::milliseconds(0),
      [&answered](const Result<std::vector<RunRow>>& runs) { answered = runs.has_value() && runs->empty(); },
      [] { return false; });
  EXPECT_TRUE(answered);
  const auto row = store_.find_run(submitted->first.id);
  ASSERT_TRUE(row.has_value() && row->has_value());
  EXPECT_EQ((*row)->status, RunStatus::pending);
}

TEST(Readiness, AnAnswerOfTheStoreIsKeptForAWhile) {
  std::atomic<int> checks{0};
  Readiness readiness(
      [&checks] {
        ++checks;
        return Response(200, "text/plain", {}, "ready\n");
      },
      {std::chrono::hours(1), std::chrono::hours(1)});
  std::mutex mutex;
  std::condition_variable changed;
  int answers = 0;
  const auto ask = [&] {
    readiness.ask(Reply([&](const Response& response) {
      EXPECT_EQ(response.status, 200);
      const std::scoped_lock lock(mutex);
      ++answers;
      changed.notify_all();
    }));
  };
  ask();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return answers == 1; });
  lock.unlock();
  ask();
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(checks, 1);
}

}  // namespace
}  // namespace cairn::api
