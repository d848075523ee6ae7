// Nodes on one database, in a schema of its own, and direct SQL access. Every test ends with `cairn verify`.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cairn/engine.h"
#include "store/store.h"
#include "upkeep/verify.h"

namespace cairn {

using namespace std::chrono_literals;

class Cluster : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    connection_.reset(PQconnectdb(server_.c_str()));
    schema_ = "cluster_" + std::to_string(::getpid());
    sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }
  void TearDown() override {
    if (server_.empty()) return;
    if (!nodes_.empty()) {
      for (auto& node : nodes_) node->stop();
      const auto report = verify_store(nodes_.front()->store());
      ASSERT_TRUE(report.has_value()) << report.error().message;
      for (const Finding& finding : report->findings) ADD_FAILURE() << finding.invariant << ": " << finding.message;
    }
    nodes_.clear();
    sql("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }

  Engine& node(const std::string& name) {
    EngineOptions options;
    options.store = server_ + "&schema=" + schema_ + "&application_name=" + schema_;
    options.node = name;
    auto opened = Engine::open(options);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      std::abort();
    }
    nodes_.push_back(std::move(*opened));
    return *nodes_.back();
  }
  void deploy(Engine& node, const std::string& text) {
    const auto done = node.deploy(text);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  InstanceId start(Engine& node, const std::string& definition, Json input = Json::object()) {
    StartRequest request;
    request.definition = definition;
    request.input = std::move(input);
    const auto started = node.start(request);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    return started ? started->instance : InstanceId{};
  }
  void expect_completed(Engine& node, const InstanceId& id) {
    const auto end = node.wait(id, 30s);
    ASSERT_TRUE(end.has_value()) << end.error().message;
    EXPECT_EQ(end->status, Status::completed) << id.value << (end->error ? end->error->message : "");
  }

  std::string sql(const std::string& text) {
    PGresult* result = PQexec(connection_.get(), text.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << text << PQerrorMessage(connection_.get());
    const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return value;
  }

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::string server_, schema_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::vector<std::unique_ptr<Engine>> nodes_;
};

}  // namespace cairn
