// A transport added by the program: `call: {NAME: …}` uses it, and an engine without a transport of that name returns
// an error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cairn/engine.h"
#include "transport/transport.h"

namespace cairn {
namespace {

constexpr const char* parcel = R"(
cairn: 1
name: parcel
version: 1.0.0
input: { type: object }
steps:
  - call: { pigeon: { to: = input.to }, result: flight }
output: = state.flight
)";

// Returns the request at once.
class PigeonTransport final : public Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(TransportCall call, Done done) override {
    TransportAnswer answer;
    answer.result = Json::object({{"flew_to", call.request["to"]}, {"key", call.idempotency_key}});
    done(std::move(answer));
  }

 private:
  const std::string name_ = "pigeon";
};

class FurtherTransport : public testing::Test {
 protected:
  FurtherTransport()
      : folder_(std::filesystem::path(testing::TempDir()) / ("cairn_transport_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FurtherTransport() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<Engine>> open(bool with_pigeon, bool strict = true) {
    EngineOptions options;
    options.store = "sqlite:" + (folder_ / "store.db").string();
    options.environment_secrets = false;
    options.strict_definitions = strict;
    if (with_pigeon) options.transports.push_back(std::make_shared<PigeonTransport>());
    return Engine::open(std::move(options));
  }

  const std::filesystem::path folder_;
};

TEST_F(FurtherTransport, MakesTheCallsOfItsName) {
  auto engine = open(true);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto deployed = (*engine)->deploy(parcel);
  ASSERT_TRUE(deployed) << deployed.error().message;
  (*engine)->run();
  StartRequest request;
  request.definition = "parcel";
  request.input = Json::object({{"to", "Basel"}});
  const auto started = (*engine)->start(request);
  ASSERT_TRUE(started) << started.error().message;
  const auto ended = (*engine)->wait(started->instance, std::chrono::seconds(30));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status, Status::completed);
  EXPECT_EQ(ended->output["flew_to"], Json("Basel"));
  EXPECT_FALSE(ended->output["key"].as_string().empty());
}

TEST_F(FurtherTransport, ADefinitionThatNamesAnUnknownOneIsNotDeployed) {
  auto engine = open(false);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto deployed = (*engine)->deploy(parcel, "parcel.yaml");
  ASSERT_FALSE(deployed);
  EXPECT_EQ(deployed.error().code, ErrorCode::invalid);
  EXPECT_NE(deployed.error().message.find("parcel.yaml:7:13: error: unknown key `pigeon`"), std::string::npos)
      << deployed.error().message;
}

TEST_F(FurtherTransport, AStoreThatNeedsItRefusesToStartWithoutIt) {
  {
    auto engine = open(true);
    ASSERT_TRUE(engine) << engine.error().message;
    ASSERT_TRUE((*engine)->deploy(parcel));
  }
  const auto strict = open(false);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::unsupported);
  EXPECT_EQ(
      strict.error().message,
      "definition parcel 1.0.0 requires the transport pigeon, which is not registered; registered transports: graphql, "
      "http and worker");
  EXPECT_TRUE(open(false, false));
  EXPECT_TRUE(open(true));
}

}  // namespace
}  // namespace cairn
