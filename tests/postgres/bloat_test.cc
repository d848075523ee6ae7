// Does a busy store stay small? Generated workflows run for a while on three nodes with retention; sizes and dead rows
// are shown, and once retention has caught up with the load nothing keeps growing. Part of the long run only.
//
//   CAIRN_BLOAT_MINUTES  how long (4; 20 in the long run)
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "clientele.h"
#include "processes.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto keep = 30s;  // ended instances; the clientele has seen them long before
constexpr double growth_max = 1.5;

struct Sample {
  std::int64_t bytes = 0;
  std::int64_t dead = 0;
};

class Observer {
 public:
  explicit Observer(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}
  ~Observer() { PQfinish(connection_); }

  // Of all tables, and a line for each that is worth one.
  Sample look(bool show) {
    PGresult* rows = PQexec(connection_,
                            "SELECT relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup, autovacuum_count, "
                            "CASE WHEN n_tup_upd > 0 THEN 100 * n_tup_hot_upd / n_tup_upd END FROM pg_stat_user_tables "
                            "WHERE schemaname = 'cairn' ORDER BY 2 DESC");
    EXPECT_EQ(PQresultStatus(rows), PGRES_TUPLES_OK) << PQerrorMessage(connection_);
    Sample all;
    for (int row = 0; row < PQntuples(rows); ++row) {
      const std::int64_t bytes = std::atoll(PQgetvalue(rows, row, 1));
      all.bytes += bytes;
      all.dead += std::atoll(PQgetvalue(rows, row, 3));
      if (!show || bytes < 200'000) continue;
      std::printf("  %-22s %8.1f MB, %7s live, %7s dead, %3s vacuums, %3s %% HOT\n", PQgetvalue(rows, row, 0),
                  static_cast<double>(bytes) / 1e6, PQgetvalue(rows, row, 2), PQgetvalue(rows, row, 3),
                  PQgetvalue(rows, row, 4), PQgetvalue(rows, row, 5));
    }
    PQclear(rows);
    std::fflush(stdout);
    return all;
  }

 private:
  PGconn* connection_;
};

TEST(Bloat, IsBoundedUnderLoad) {
  if (!ThrowawayServer::installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  const char* given = std::getenv("CAIRN_BLOAT_MINUTES");
  const auto length = std::chrono::seconds(60 * (given ? std::atoi(given) : 4));
  ThrowawayServer server("/tmp/cairn-bloat-" + std::to_string(::getpid()));
  const NodeOrder order{server.url(), server.folder() + ".ledger", server.folder() + ".log", keep};
  {
    Clientele clientele(server.url(), 1, 64);
    std::vector<std::unique_ptr<NodeProcess>> nodes;
    for (const char* name : {"a", "b", "c"}) nodes.push_back(std::make_unique<NodeProcess>(order, name));
    Observer observer(server.url());
    clientele.bring(1'000'000'000);
    const auto begun = Clock::now();
    std::int64_t second_quarter = 0, last_quarter = 0;
    for (int tenth = 1; tenth <= 40; ++tenth) {
      // Ten measurements in each quarter: this test is about the passing of time.
      std::this_thread::sleep_until(begun + length * tenth / 40);
      const Sample sample = observer.look(tenth % 10 == 0);
      if (tenth % 10 == 0) {
        std::printf("after %.0f s: %zu instances ended, %.1f MB, %lld dead rows\n",
                    std::chrono::duration<double>(Clock::now() - begun).count(), clientele.ended(),
                    static_cast<double>(sample.bytes) / 1e6, static_cast<long long>(sample.dead));
      }
      if (tenth > 10 && tenth <= 20) second_quarter = std::max(second_quarter, sample.bytes);
      if (tenth > 30) last_quarter = std::max(last_quarter, sample.bytes);
    }
    std::printf("largest in the second quarter %.1f MB, in the last %.1f MB\n",
                static_cast<double>(second_quarter) / 1e6, static_cast<double>(last_quarter) / 1e6);
    EXPECT_LE(static_cast<double>(last_quarter), growth_max * static_cast<double>(second_quarter));
    clientele.close();
    EXPECT_TRUE(clientele.wait(60s, [&] { return clientele.all_ended(); }));
    nodes.clear();  // they would remove ended instances while the store is verified
    clientele.judge(order.ledger);
  }
  if (HasFailure()) return;
  std::filesystem::remove(order.ledger);
  std::filesystem::remove(order.log);
}

}  // namespace
}  // namespace cairn
