// A store with an empty queue of runs, and direct SQL access.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/clock.h"
#include "store/open.h"
#include "store/postgres/wire/connection.h"

namespace cairn {

// Counts the statements of each kind.
class CountingConductor final : public postgres::Conductor {
 public:
  CountingConductor() { postgres::Connection::conduct(this); }
  ~CountingConductor() override { postgres::Connection::conduct(nullptr); }
  void before(postgres::Connection&, postgres::Sql statement) override {
    const std::lock_guard lock(mutex_);
    ++counts_[statement];
  }
  int count(postgres::Sql statement) {
    const std::lock_guard lock(mutex_);
    return counts_[statement];
  }
  int all() {
    const std::lock_guard lock(mutex_);
    int sum = 0;
    for (const auto& [statement, count] : counts_) sum += count;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::map<postgres::Sql, int> counts_;
};

class RunQueue : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    schema_ = "queue_" + std::to_string(::getpid());
  }
  void TearDown() override {
    store_.reset();
    if (!server_.empty()) sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }

  std::string sql(const std::string& text) {
    if (!connection_) connection_.reset(PQconnectdb(server_.c_str()));
    PGresult* result = PQexec(connection_.get(), postgres::for_schema(text, schema_).c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << text << PQerrorMessage(connection_.get());
    const std::string value =
        status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : std::string();
    PQclear(result);
    return value;
  }
  void open() {
    auto opened = open_store(server_ + "&schema=" + schema_, clock_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  // The payloads of runs that can be leased now.
  std::multiset<std::string> lease() {
    LeaseRequest request;
    request.worker = "w";
    request.max = 100;
    request.length = Duration::of_seconds(60);
    std::multiset<std::string> names;
    const auto leased = store_->lease_runs(request);
    EXPECT_TRUE(leased.has_value()) << (leased ? "" : leased.error().message);
    for (const RunRow& run : leased ? *leased : std::vector<RunRow>()) names.insert(write_json(run.payload));
    return names;
  }
  std::vector<RunRow> submit(std::size_t count, std::int64_t priority = 0, std::optional<Timestamp> run_at = {}) {
    std::vector<RunRow> runs(count);
    for (RunRow& run : runs) {
      run.id = {new_uuid(store_->now())};
      run.type = "default.a";
      run.priority = priority;
      if (run_at) run.run_at = *run_at;
    }
    EXPECT_TRUE(store_->submit_runs(runs).has_value());
    return runs;
  }
  std::vector<RunRow> lease_many(std::size_t count) {
    auto leased = store_->lease_runs({"w", {"default."}, {}, count, Duration::of_seconds(60)});
    EXPECT_TRUE(leased.has_value()) << (leased ? "" : leased.error().message);
    return leased ? std::move(*leased) : std::vector<RunRow>();
  }
  std::size_t listed(RunStatus status) {
    RunFilter filter;
    filter.status = status;
    const auto page = store_->list_runs(filter, {100, ""});
    EXPECT_TRUE(page.has_value());
    return page ? page->items.size() : 0;
  }

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::string server_, schema_;
  std::unique_ptr<PGconn, Finish> connection_;
  SystemClock clock_;
  std::unique_ptr<Store> store_;
};

}  // namespace cairn
