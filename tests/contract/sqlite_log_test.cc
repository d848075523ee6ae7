// Committed data is in the files, independent of what the layers between SQLite and its log gather or omit.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "store/sqlite/connection.h"
#include "store/sqlite/page_cache.h"
#include "store/sqlite/writer_settings.h"

namespace cairn::sqlite {
namespace {

namespace fs = std::filesystem;

class SqliteLog : public testing::Test {
 protected:
  void SetUp() override {
    install_page_cache();
    folder_ = testing::TempDir() + "cairn_log_" + std::to_string(::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto opened = Connection::open(folder_ + "/store.db", Connection::Mode::write);
    ASSERT_TRUE(opened.has_value());
    writer_ = std::move(*opened);
    writer_->script(writer_settings);
    say("CREATE TABLE item (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL)");
  }
  void TearDown() override {
    writer_.reset();
    fs::remove_all(folder_);
  }
  void say(const std::string& text) {
    writer_->script(text.c_str());
    ASSERT_FALSE(writer_->error()) << writer_->error()->message;
  }
  void insert(int count) {
    for (int i = 0; i < count; ++i) {
      say("INSERT INTO item (key, body) VALUES ('" + std::to_string(random_()) + "-" + std::to_string(++last_) +
          "', hex(zeroblob(700)))");
    }
  }

  struct Seen {
    std::int64_t rows = 0;
    std::string check;
    bool operator==(const Seen&) const = default;
  };
  static Seen look(const std::string& path) {
    Seen seen;
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(
        sqlite3_prepare_v2(handle, "SELECT (SELECT count(*) FROM item), (SELECT * FROM pragma_integrity_check LIMIT 1)",
                           -1, &statement, nullptr),
        SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW) {
      seen.rows = sqlite3_column_int64(statement, 0);
      seen.check = reinterpret_cast<const char*>(sqlite3_column_text(statement, 1));
    }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return seen;
  }
  // The files as a process that died now would leave them.
  Seen look_after_death() {
    const std::string grave = folder_ + "/grave";
    fs::remove_all(grave);
    fs::create_directories(grave);
    for (const char* name : {"/store.db", "/store.db-wal"}) {
      if (fs::exists(folder_ + name)) fs::copy_file(folder_ + name, grave + name);
    }
    return look(grave + "/store.db");
  }

  std::string folder_;
  std::unique_ptr<Connection> writer_;
  std::mt19937 random_{20261116};
  int last_ = 0;
};

TEST_F(SqliteLog, EveryCommitIsInTheFiles) {
  std::int64_t rows = 0;
  for (int round = 0; round < 40; ++round) {
    say("BEGIN IMMEDIATE");
    insert(round);
    say("COMMIT");
    rows += round;
    EXPECT_EQ(look(folder_ + "/store.db"), (Seen{rows, "ok"}));
    EXPECT_EQ(look_after_death(), (Seen{rows, "ok"}));
  }
}

TEST_F(SqliteLog, NothingOfATransactionThatWasGivenUp) {
  say("BEGIN IMMEDIATE");
  insert(50);
  say("COMMIT");
  for (int round = 0; round < 10; ++round) {
    say("BEGIN IMMEDIATE");
    insert(200);
    say("DELETE FROM item WHERE n % 3 = 0");
    say("ROLLBACK");
    say("BEGIN IMMEDIATE");
    insert(1);
    say("COMMIT");
    EXPECT_EQ(look_after_death(), (Seen{51 + round, "ok"}));
  }
}

TEST_F(SqliteLog, ATransactionLargerThanTheCacheReadsWhatItHasWritten) {
  say("PRAGMA cache_size = 8");
  say("BEGIN IMMEDIATE");
  insert(4000);
  say("UPDATE item SET body = body || 'x' WHERE n % 2 = 0");
  EXPECT_EQ(look(folder_ + "/store.db").rows, 0);
  say("COMMIT");
  EXPECT_EQ(look_after_death(), (Seen{4000, "ok"}));
}

TEST_F(SqliteLog, ALogThatBeginsAnewIsNotMixedWithTheOldOne) {
  std::int64_t rows = 0;
  for (int round = 0; round < 30; ++round) {
    say("BEGIN IMMEDIATE");
    insert(30);
    say("DELETE FROM item WHERE n IN (SELECT n FROM item ORDER BY key LIMIT 10)");
    say("COMMIT");
    rows += 20;
    if (round % 5 == 4) say("PRAGMA wal_checkpoint(PASSIVE)");
    if (round % 10 == 9) say("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_EQ(look_after_death(), (Seen{rows, "ok"}));
  }
  // Pages go back to the file's end, so that the cache has some to forget.
  say("DELETE FROM item WHERE n % 10 > 0");
  say("VACUUM");
  const Seen kept = look(folder_ + "/store.db");
  EXPECT_EQ(kept.check, "ok");
  say("BEGIN IMMEDIATE");
  insert(500);
  say("COMMIT");
  EXPECT_EQ(look_after_death(), (Seen{kept.rows + 500, "ok"}));
}

// Other programs are still held to the rules that our own connection leaves out.
TEST_F(SqliteLog, TriggersAndConstraintsHoldForOthers) {
  say("CREATE TABLE ruled (status TEXT CHECK (status IN ('a', 'b')))");
  say("CREATE TRIGGER stays BEFORE UPDATE ON ruled BEGIN SELECT RAISE(ABORT, 'it stays'); END");
  say("INSERT INTO ruled VALUES ('a')");
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ + "/store.db").c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, "INSERT INTO ruled VALUES ('c')", nullptr, nullptr, nullptr), SQLITE_CONSTRAINT);
  EXPECT_EQ(sqlite3_exec(other, "UPDATE ruled SET status = 'b'", nullptr, nullptr, nullptr), SQLITE_CONSTRAINT);
  sqlite3_close(other);
}

}  // namespace
}  // namespace cairn::sqlite
