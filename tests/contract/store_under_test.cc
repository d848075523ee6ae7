#include "store_under_test.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "store/open.h"

namespace cairn {

std::string name_of(BackEnd back_end) {
  switch (back_end) {
    case BackEnd::memory: return "memory";
    case BackEnd::sqlite: return "sqlite";
    case BackEnd::sqlite_reopened: return "sqlite_reopened";
    case BackEnd::postgres: return "postgres";
    case BackEnd::postgres_reopened: return "postgres_reopened";
  }
  return "unknown";
}

namespace {

std::string server() {
  const char* given = std::getenv("CAIRN_TEST_POSTGRES");
  return given ? given : "";
}

bool on_server(BackEnd back_end) { return back_end == BackEnd::postgres || back_end == BackEnd::postgres_reopened; }

// One schema for this process. Emptied rather than made anew: a hundred tests would else wait for its tables.
std::string schema() { return "contract_" + std::to_string(::getpid()); }

void on_the_server(const std::string& text) {
  PGconn* connection = PQconnectdb(server().c_str());
  PGresult* result = PQexec(connection, text.c_str());
  ASSERT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
}

// Each back end spaces JSON in its own way.
std::string plain(const std::string& cell) {
  if (!cell.starts_with('{') && !cell.starts_with('[')) return cell;
  const auto json = parse_json(cell);
  return json ? write_json(*json) : cell;
}

class ServerSchema : public testing::Environment {
 public:
  void TearDown() override {
    if (!server().empty())
      on_the_server("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema() + " CASCADE");
  }
};
[[maybe_unused]] const auto* const schema_environment = testing::AddGlobalTestEnvironment(new ServerSchema);

}  // namespace

std::vector<BackEnd> back_ends() {
  std::vector<BackEnd> list{BackEnd::memory, BackEnd::sqlite, BackEnd::sqlite_reopened};
  if (!server().empty()) list.push_back(BackEnd::postgres);
  // A connection for every call: minutes.
  if (!server().empty() && std::getenv("CAIRN_TEST_LONG")) list.push_back(BackEnd::postgres_reopened);
  return list;
}

void StoreContract::SetUp() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name();
  for (char& letter : name) {
    if (letter == '/') letter = '_';
  }
  // In memory if possible: this suite checks what is written, not whether it is on a disk.
  const std::string folder = std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir();
  path_ = folder + "cairn_" + std::to_string(::getpid()) + "_" + name;
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
  open();
  if (!on_server(GetParam())) return;
  // An event that a sink has still to get cannot be deleted.
  on_the_server("UPDATE " + schema() + ".outbox_event SET delivered_at = now() WHERE delivered_at IS NULL");
  on_the_server("DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '" + schema() +
                "' AND tablename <> 'wf_schema' LOOP EXECUTE 'DELETE FROM " + schema() + ".' || t; END LOOP; END $$");
}

void StoreContract::TearDown() {
  // Whatever a test did with runs, the queue says the same of them.
  EXPECT_TRUE(!store_ || must(store_->queue_faults(1)).empty());
  EXPECT_TRUE(!store_ || must(store_->piece_faults(1)).empty());
  store_.reset();
  std::filesystem::remove_all(path_);
}

void StoreContract::open() {
  store_.reset();
  const std::string url = GetParam() == BackEnd::memory ? "memory:"
                          : on_server(GetParam())       ? server() + "&clock=process&schema=" + schema()
                                                        : "sqlite:" + path_ + "/store.db";
  auto opened = open_store(url, clock_);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  store_->keep_events(events_);
  if (piece_bytes_min_) store_->keep_apart(*piece_bytes_min_);
  store_->watch([this](const Wakeup& wakeup) {
    const std::lock_guard lock(told_mutex_);
    told_.messages |= wakeup.messages;
    told_.runs |= wakeup.runs;
    told_.outbox |= wakeup.outbox;
    if (wakeup.due && (!told_.due || *wakeup.due < *told_.due)) told_.due = wakeup.due;
    told_.ended.insert(told_.ended.end(), wakeup.ended.begin(), wakeup.ended.end());
  });
}

Wakeup StoreContract::told() const {
  const std::lock_guard lock(told_mutex_);
  return told_;
}

void StoreContract::forget_told() {
  const std::lock_guard lock(told_mutex_);
  told_ = {};
}

void StoreContract::keep_events(const EventPolicy& policy) {
  events_ = policy;
  store_->keep_events(policy);
}

void StoreContract::keep_apart(std::size_t piece_bytes_min) {
  piece_bytes_min_ = piece_bytes_min;
  store_->keep_apart(piece_bytes_min);
}

Store& StoreContract::store() {
  if (forgets_marks()) open();
  return *store_;
}

CommitOutcome StoreContract::commit(const Unit& unit) {
  auto outcomes = store().commit(std::span(&unit, 1));
  EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
  if (!outcomes || outcomes->size() != 1) {
    ADD_FAILURE() << "a commit of one unit must give one answer";
    return {};
  }
  return std::move(outcomes->front());
}

std::vector<std::vector<std::string>> StoreContract::sql(const std::string& text) {
  std::string own = text;
  const std::string place = on_server(GetParam()) ? schema() + "." : "";
  for (std::size_t at = own.find("cairn."); at != std::string::npos; at = own.find("cairn.", at + place.size())) {
    own.replace(at, 6, place);
  }
  std::vector<std::vector<std::string>> rows;
  if (on_server(GetParam())) {
    PGconn* connection = PQconnectdb(server().c_str());
    PGresult* result = PQexec(connection, own.c_str());
    const auto status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) << PQerrorMessage(connection) << own;
    for (int row = 0; row < PQntuples(result); ++row) {
      auto& cells = rows.emplace_back();
      for (int column = 0; column < PQnfields(result); ++column) {
        cells.push_back(PQgetisnull(result, row, column) ? "NULL" : plain(PQgetvalue(result, row, column)));
      }
    }
    PQclear(result);
    PQfinish(connection);
    return rows;
  }
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open((path_ + "/store.db").c_str(), &handle), SQLITE_OK);
  sqlite3_busy_timeout(handle, 10'000);
  const auto keep = [](void* kept, int columns, char** values, char**) {
    auto& cells = static_cast<decltype(rows)*>(kept)->emplace_back();
    for (int column = 0; column < columns; ++column) {
      cells.push_back(values[column] == nullptr ? "NULL" : plain(values[column]));
    }
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(handle, own.c_str(), keep, &rows, nullptr), SQLITE_OK) << sqlite3_errmsg(handle) << own;
  sqlite3_close(handle);
  return rows;
}

std::vector<OutboxRow> StoreContract::claim_events(std::size_t max, Duration hold) {
  return must(store().claim_outbox({&sink_, 1}, {sink_.name, max, hold}));
}

void StoreContract::publish_event(const OutboxRow& row) {
  const SinkResult taken{row.sequence, SinkResult::Kind::taken, row.attempts + 1, clock_.now()};
  EXPECT_EQ(must(store().record_sink_results(sink_.name, {&taken, 1})), 1u);
}

CommitOutcome StoreContract::commit(const Advance& advance) {
  Unit unit;
  unit.advances.push_back(advance);
  unit.actor = "node";
  return commit(unit);
}

}  // namespace cairn
