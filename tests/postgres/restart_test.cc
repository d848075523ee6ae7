// Four restarts under load: one node, all nodes, the database, everything. Work that was in progress at the kill must
// finish soon after the last required part runs again. In the end nothing is lost and nothing is duplicated.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "clientele.h"
#include "processes.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t node_count = 3;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double seconds_max = 30;
#else
constexpr double seconds_max = 5;
#endif

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

class Restarts : public testing::Test {
 protected:
  void SetUp() override {
    if (!ThrowawayServer::installed()) GTEST_SKIP() << "PostgreSQL is not installed";
    server_ = std::make_unique<ThrowawayServer>("/tmp/cairn-restart-" + std::to_string(::getpid()));
    order_ = {server_->url(), server_->folder() + ".ledger", server_->folder() + ".log", {}};
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    clientele_ = std::make_unique<Clientele>(server_->url(), seed, 24);
    for (std::size_t i = 0; i < node_count; ++i) nodes_.push_back(spawn(i));
    clientele_->bring(1'000'000);
    ASSERT_TRUE(clientele_->wait(60s, [this] { return clientele_->ended() >= 20; })) << "no load";
  }
  void TearDown() override {
    if (!clientele_) return;
    clientele_->close();
    EXPECT_TRUE(clientele_->wait(60s, [this] { return clientele_->all_ended(); }));
    clientele_->judge(order_.ledger);
    nodes_.clear();
    clientele_.reset();
    server_.reset();
    if (HasFailure()) return;
    std::filesystem::remove(order_.ledger);
    std::filesystem::remove(order_.log);
  }

  std::unique_ptr<NodeProcess> spawn(std::size_t i) {
    return std::make_unique<NodeProcess>(order_, "node" + std::to_string(i));
  }
  void kill_node(std::size_t i) {
    nodes_[i]->kill();
    EXPECT_EQ(nodes_[i]->complaint(), "") << "see " << order_.log;
  }
  void kill_nodes() {
    for (std::size_t i = 0; i < node_count; ++i) kill_node(i);
  }
  void start_nodes() {
    for (std::size_t i = 0; i < node_count; ++i) nodes_[i] = spawn(i);
  }

  // Repeats `cut` and `mend`. Measures how long it takes until the first instance that was in progress at the cut has
  // ended, and until all of them have.
  void rounds(const char* what, const std::function<void(std::size_t)>& cut,
              const std::function<void(std::size_t)>& mend) {
    const char* wanted = std::getenv("CAIRN_RESTART_CASE");
    if (wanted != nullptr && std::string_view(wanted) != what) return;
    const char* given = std::getenv("CAIRN_RESTARTS");
    const std::size_t count = given ? static_cast<std::size_t>(std::atoll(given)) : 1;
    double slowest_first = 0, slowest_all = 0;
    for (std::size_t round = 0; round < count; ++round) {
      ASSERT_TRUE(clientele_->wait(30s, [this] { return clientele_->unfinished().size() >= 12; }));
      cut(round);
      const std::set<std::string> cut_off = clientele_->unfinished();
      mend(round);
      const auto up = Clock::now();
      const auto left = [&] {
        const std::set<std::string> now = clientele_->unfinished();
        return static_cast<std::size_t>(
            std::count_if(cut_off.begin(), cut_off.end(), [&](const std::string& id) { return now.contains(id); }));
      };
      ASSERT_TRUE(clientele_->wait(60s, [&] { return left() < cut_off.size(); })) << what << " round " << round;
      slowest_first = std::max(slowest_first, seconds_since(up));
      ASSERT_TRUE(clientele_->wait(60s, [&] { return left() == 0; })) << what << " round " << round;
      slowest_all = std::max(slowest_all, seconds_since(up));
    }
    std::printf("%s: %zu rounds, slowest resume %.2f s, slowest to finish what was cut off %.2f s\n", what, count,
                slowest_first, slowest_all);
    EXPECT_LE(slowest_first, seconds_max) << what;
    EXPECT_LE(slowest_all, seconds_max) << what;
  }

  std::unique_ptr<ThrowawayServer> server_;
  NodeOrder order_;
  std::unique_ptr<Clientele> clientele_;
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};

TEST_F(Restarts, LoseAndDoubleNothing) {
  // It stays down until the others have finished its work.
  rounds(
      "one node",
      [&](std::size_t round) {
        if (round > 0) nodes_[(round - 1) % node_count] = spawn((round - 1) % node_count);
        kill_node(round % node_count);
      },
      [](std::size_t) {});
  rounds(
      "all nodes", [&](std::size_t) { kill_nodes(); }, [&](std::size_t) { start_nodes(); });
  rounds(
      "the database", [&](std::size_t) { server_->kill(); }, [&](std::size_t) { server_->up(); });
  rounds(
      "everything",
      [&](std::size_t) {
        server_->kill();
        kill_nodes();
      },
      [&](std::size_t) {
        server_->up();
        start_nodes();
      });
}

}  // namespace
}  // namespace cairn
