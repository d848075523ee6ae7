// Two PostgreSQL servers under Patroni with synchronous replication; the primary is killed again and again under load.
// Nothing that was acknowledged is lost, each effect happens once, everything comes to its end. Needs Patroni and etcd;
// part of the long run only.
//
//   CAIRN_FAILOVERS  how often (5)
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "clientele.h"
#include "processes.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

class Patroni {
 public:
  explicit Patroni(std::string folder) : folder_(std::move(folder)) { url_ = run("start"); }
  ~Patroni() { run("stop"); }
  void kill_primary() { run("kill"); }
  void mend() { run("mend"); }
  const std::string& url() const { return url_; }
  static bool installed() {
    return std::filesystem::exists("/usr/bin/patroni") && std::filesystem::exists("/usr/bin/etcd");
  }

 private:
  std::string run(const std::string& verb) const {
    FILE* pipe = ::popen((std::string(CAIRN_PATRONI) + " " + verb + " " + folder_).c_str(), "r");
    std::string said;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) said += buffer.data();
    EXPECT_EQ(::pclose(pipe), 0) << verb;
    return said.substr(0, said.find('\n'));
  }
  std::string folder_, url_;
};

TEST(Failover, LosesNothingThatWasAcknowledged) {
  if (!Patroni::installed()) GTEST_SKIP() << "Patroni and etcd are not installed";
  const char* given = std::getenv("CAIRN_FAILOVERS");
  const int count = given ? std::atoi(given) : 5;
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string folder = "/tmp/cairn-patroni-" + std::to_string(::getpid());
  Patroni patroni(folder);
  ASSERT_FALSE(HasFailure());
  const NodeOrder order{patroni.url(), folder + ".ledger", folder + ".log", {}};
  {
    Clientele clientele(patroni.url(), seed, 16);
    NodeProcess a(order, "a"), b(order, "b");
    clientele.bring(1'000'000);
    for (int round = 0; round < count && !HasFailure(); ++round) {
      const std::size_t before = clientele.ended();
      ASSERT_TRUE(clientele.wait(60s, [&] { return clientele.ended() >= before + 30; })) << "no load";
      const auto killed = Clock::now();
      patroni.kill_primary();
      const double promoted = seconds_since(killed);
      patroni.mend();
      const auto mended = Clock::now();
      const std::size_t then = clientele.ended();
      ASSERT_TRUE(clientele.wait(60s, [&] { return clientele.ended() > then; })) << "work does not go on";
      std::printf(
          "round %d: %zu ended before, new primary after %.1f s, work went on %.1f s after the standby was back\n",
          round, then, promoted, seconds_since(mended));
    }
    clientele.close();
    EXPECT_TRUE(clientele.wait(120s, [&] { return clientele.all_ended(); }));
    a.kill();
    b.kill();
    EXPECT_EQ(a.complaint() + b.complaint(), "") << "see " << order.log;
    clientele.judge(order.ledger);
  }
  if (HasFailure()) return;
  std::filesystem::remove(order.ledger);
  std::filesystem::remove(order.log);
}

}  // namespace
}  // namespace cairn
