// Three nodes, each killed with SIGKILL every 50 to 500 ms, and the server every 5 to 40 s, while generated workflows
// run. All of them come to their end, an outside ledger has seen each effect under one key, every invariant holds.
//
//   CAIRN_CHAOS_WORKFLOWS  how many (300; 2000 in the long run)
//   CAIRN_CHAOS_SECONDS    no more kills after so long (30; in the long run they go on until all have ended)
//   CAIRN_CHAOS_SEED       which workflows and which kills
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "clientele.h"
#include "processes.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::size_t setting(const char* name, std::size_t otherwise) {
  const char* given = std::getenv(name);
  return given ? static_cast<std::size_t>(std::atoll(given)) : otherwise;
}

// The killer sleeps on purpose: the intervals are the test.
void sleep_until(Clock::time_point until, const std::atomic<bool>& calm) {
  while (!calm && Clock::now() < until)
    std::this_thread::sleep_for(std::min<Clock::duration>(10ms, until - Clock::now()));
}

TEST(Chaos, EverythingEndsAndEachEffectHappensOnce) {
  if (!ThrowawayServer::installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  const std::size_t workflows = setting("CAIRN_CHAOS_WORKFLOWS", 300);
  const auto chaos = std::chrono::seconds(setting("CAIRN_CHAOS_SECONDS", 30));
  const unsigned seed = static_cast<unsigned>(setting("CAIRN_CHAOS_SEED", std::random_device{}()));
  SCOPED_TRACE("seed " + std::to_string(seed));
  ThrowawayServer server("/tmp/cairn-chaos-" + std::to_string(::getpid()));
  const NodeOrder order{server.url(), server.folder() + ".ledger", server.folder() + ".log", {}};
  const auto begun = Clock::now();
  std::atomic<std::size_t> kills = 0, server_kills = 0;
  {
    Clientele clientele(server.url(), seed, 64);
    clientele.bring(workflows);
    std::atomic<bool> calm = false;
    std::vector<std::jthread> killers;
    for (unsigned node = 0; node < 3; ++node) {
      killers.emplace_back([&, node] {
        std::mt19937 random(seed + 1 + node);
        while (!calm) {
          NodeProcess process(order, "node" + std::to_string(node));
          sleep_until(Clock::now() + std::chrono::milliseconds(50 + random() % 451), calm);
          process.kill();
          EXPECT_EQ(process.complaint(), "") << "see " << order.log;
          ++kills;
        }
      });
    }
    killers.emplace_back([&] {
      std::mt19937 random(seed);
      // The first one early, so that the short form has one too.
      for (auto next = 5000 + random() % 500;; next = 5000 + random() % 35'001) {
        sleep_until(Clock::now() + std::chrono::milliseconds(next), calm);
        if (calm) return;
        server.kill();
        server.up();
        ++server_kills;
      }
    });
    const bool early = clientele.wait(chaos, [&] { return clientele.all_ended(); });
    calm = true;
    killers.clear();
    std::printf("%zu ended under kills\n", clientele.ended());
    if (!early) {
      NodeProcess a(order, "a"), b(order, "b"), c(order, "c");
      EXPECT_TRUE(clientele.wait(120s, [&] { return clientele.all_ended(); }));
    }
    clientele.judge(order.ledger);
  }
  std::printf("nodes killed %zu, server killed %zu, %.1f s, seed %u\n", kills.load(), server_kills.load(),
              std::chrono::duration<double>(Clock::now() - begun).count(), seed);
  if (testing::Test::HasFailure()) return;
  std::filesystem::remove(order.ledger);
  std::filesystem::remove(order.log);
}

}  // namespace
}  // namespace cairn
