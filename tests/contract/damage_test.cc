// Damaged files: every read returns what was written, or an error.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/clock.h"
#include "sample.h"
#include "store/open.h"
#include "store/sqlite/page_checksum.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::string(fs::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) + "cairn_damage_" +
              std::to_string(::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ + "/store.db";
  }
  void TearDown() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  Result<std::unique_ptr<Store>> try_open(StoreMode mode = StoreMode::own) {
    return open_store("sqlite:" + path_, clock_, mode);
  }
  void open() {
    store_.reset();
    auto opened = try_open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  Result<std::vector<CommitOutcome>> commit(const Advance& advance) {
    Unit unit;
    unit.advances = {advance};
    return store_->commit(std::span(&unit, 1));
  }
  // It looks at its files now and then.
  Result<std::vector<CommitOutcome>> commit_until_refused() {
    for (int i = 0; i < 100'000; ++i) {
      auto outcome = commit(sample::begin("until-" + std::to_string(++last_)));
      if (!outcome) return outcome;
    }
    return std::vector<CommitOutcome>();
  }
  void add(const std::string& id) {
    Advance advance = sample::begin(id);
    // Some are larger than a page.
    if (id.back() == '7') advance.after.state = Json::object({{"text", std::string(9000, 'x')}});
    sample::add_task(advance, "task-" + id);
    sample::add_run(advance, "run-" + id);
    const auto done = commit(advance);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    ASSERT_EQ(done->front().kind, CommitOutcome::Kind::done);
  }
  // With something in its file and something in its log, as a process that was killed leaves it.
  void leave_store(int in_file, int in_log) {
    open();
    for (int i = 0; i < in_file; ++i) add("file-" + std::to_string(i));
    store_->release_caches();
    for (int i = 0; i < in_log; ++i) add("log-" + std::to_string(i));
    for (const char* end : {"", "-wal"}) fs::copy_file(path_ + end, folder_ + "/image" + end);
    store_.reset();
    for (const char* end : {"", "-wal", "-shm", ".lock"}) fs::remove(path_ + end);
  }
  void put_back() {
    store_.reset();
    for (const char* end : {"", "-wal", "-shm", ".lock"}) fs::remove(path_ + end);
    for (const char* end : {"", "-wal"}) fs::copy_file(folder_ + "/image" + end, path_ + end);
  }
  void flip(const std::string& file, std::size_t bit) {
    std::fstream in(file, std::ios::binary | std::ios::in | std::ios::out);
    in.seekg(static_cast<std::streamoff>(bit / 8));
    const int byte = in.get();
    in.seekp(static_cast<std::streamoff>(bit / 8));
    in.put(static_cast<char>(byte ^ (1 << bit % 8)));
  }

  // Everything that can be asked about it, each answer by itself: its text, or that it cannot be read.
  std::vector<std::string> ask(Store& store) {
    std::vector<std::string> answers;
    const auto say = [&](const auto& answer, const auto& text) {
      if (answer) {
        answers.push_back(text(*answer));
      } else {
        EXPECT_NE(answer.error().code, ErrorCode::not_found);
        last_error_ = answer.error().message;
        answers.push_back("error");
      }
    };
    for (const std::string& id : ids_) {
      say(store.find_instance({id}), [&](const std::optional<InstanceRow>& row) {
        return !row ? std::string("absent") : row->id.value + to_string(row->status) + row->program.digest;
      });
      say(store.find_snapshot({id}),
          [&](const std::optional<Snapshot>& row) { return !row ? std::string("absent") : encode_snapshot(*row); });
      say(store.find_task({"task-" + id}), [&](const std::optional<TaskRow>& row) {
        return !row ? std::string("absent") : row->title + row->instance.value + write_json(row->payload);
      });
      say(store.find_run({"run-" + id}), [&](const std::optional<RunRow>& row) {
        return !row ? std::string("absent") : row->type + row->instance->value + write_json(row->payload);
      });
      say(store.list_waits({id}), [&](const std::vector<Wait>& waits) {
        std::string text;
        for (const Wait& wait : waits) text += wait.token.value + wait.target + ";";
        return text;
      });
      say(store.history({id}, {}), [&](const Page<HistoryRow>& page) {
        std::string text;
        for (const HistoryRow& row : page.items) text += row.entry.actor + std::to_string(row.state_version) + ";";
        return text;
      });
    }
    say(store.list_instances({}, {1000, ""}), [&](const Page<InstanceRow>& page) {
      std::string text;
      for (const InstanceRow& row : page.items) text += row.id.value + ";";
      return text;
    });
    say(store.list_tasks({}, {1000, ""}), [&](const Page<TaskRow>& page) {
      std::string text;
      for (const TaskRow& row : page.items) text += row.id.value + ";";
      return text;
    });
    return answers;
  }

  ManualClock clock_{sample::start_of_time};
  std::string folder_;
  std::string path_;
  std::vector<std::string> ids_;
  int last_ = 0;
  std::string last_error_;
  std::unique_ptr<Store> store_;
};

TEST(PageChecksum, PutsRightEveryBitOfAPage) {
  std::mt19937 random(20261117);
  for (const std::uint32_t number : {1u, 2u, 77'777u}) {
    std::vector<std::uint8_t> page(4096);
    for (std::uint8_t& byte : page) byte = static_cast<std::uint8_t>(random());
    sqlite::seal_page(page.data(), page.size(), number);
    const std::vector<std::uint8_t> whole = page;
    ASSERT_EQ(sqlite::check_page(page.data(), page.size(), number), sqlite::PageState::intact);
    EXPECT_EQ(sqlite::check_page(page.data(), page.size(), number + 1), sqlite::PageState::damaged) << "another place";
    for (std::size_t bit = 0; bit < page.size() * 8; bit += 1 + random() % 13) {
      page[bit / 8] = static_cast<std::uint8_t>(page[bit / 8] ^ (1 << bit % 8));
      if (sqlite::check_page(page.data(), page.size(), number) == sqlite::PageState::intact) {
        ASSERT_EQ(number, 1u) << "only SQLite's own counters in the header are not covered";
        ASSERT_LT(bit / 8, 100u);
      } else {
        ASSERT_TRUE(sqlite::mend_page(page.data(), page.size(), number)) << bit;
        ASSERT_EQ(page, whole) << bit;
      }
      page = whole;
    }
    page[100] = static_cast<std::uint8_t>(page[100] ^ 3);
    EXPECT_FALSE(sqlite::mend_page(page.data(), page.size(), number)) << "two bits";
  }
}

TEST_F(DamagedFile, ABitThatFlipsIsFoundOrHasNoEffect) {
  const char* const given = std::getenv("CAIRN_FLIPS");
  const int flips = given != nullptr ? std::atoi(given) : 200;
  const char* const chosen = std::getenv("CAIRN_SEED");
  const auto seed = chosen != nullptr ? static_cast<unsigned>(std::atoll(chosen)) : 20261117u;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  leave_store(30, 10);
  for (int i = 0; i < 30; ++i) ids_.push_back("file-" + std::to_string(i));
  for (int i = 0; i < 10; ++i) ids_.push_back("log-" + std::to_string(i));
  put_back();
  open();
  const std::vector<std::string> right = ask(*store_);
  ASSERT_EQ(std::count(right.begin(), right.end(), "error"), 0);
  ASSERT_EQ(std::count(right.begin(), right.end(), "absent"), 0);
  int refused = 0;
  int errors = 0;
  for (int i = 0; i < flips; ++i) {
    put_back();
    const std::string file = i % 2 == 0 ? path_ : path_ + "-wal";
    const std::size_t bit = random() % (fs::file_size(file) * 8);
    flip(file, bit);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", bit " + std::to_string(bit) + " of " + file);
    auto opened = try_open();
    if (!opened) {
      ++refused;
      continue;
    }
    const std::vector<std::string> answers = ask(**opened);
    for (std::size_t k = 0; k < right.size(); ++k) {
      if (answers[k] == "error") {
        ++errors;
      } else {
        ASSERT_EQ(answers[k], right[k]);
      }
    }
  }
  // The store corrects one wrong bit. Two exceptions: the high bits of words in the log, whose checksums are too weak
  // to tell them apart, and a few bits in headers that everything else depends on.
  EXPECT_EQ(errors, 0);
  EXPECT_LE(refused, flips / 4);
}

TEST_F(DamagedFile, BitsThatFlipWhileItIsOpenAreFoundToo) {
  std::mt19937 random(20261118);
  open();
  for (int i = 0; i < 30; ++i) ids_.push_back("file-" + std::to_string(i));
  for (const std::string& id : ids_) add(id);
  store_->release_caches();
  const std::vector<std::string> right = ask(*store_);
  for (int i = 0; i < 20; ++i) {
    const std::size_t bit = random() % (fs::file_size(path_) * 8);
    // One that can be put right and one that cannot.
    const std::size_t further = i % 2 == 0 ? bit : (bit / 32768 * 32768 + random() % 32768);
    flip(path_, bit);
    if (further != bit) flip(path_, further);
    store_->release_caches();  // drops its caches
    const std::vector<std::string> answers = ask(*store_);
    for (std::size_t k = 0; k < right.size(); ++k) {
      if (answers[k] == "error") {
        EXPECT_NE(further, bit) << last_error_;
      } else {
        ASSERT_EQ(answers[k], right[k]) << "bits " << bit << " and " << further;
      }
    }
    flip(path_, bit);
    if (further != bit) flip(path_, further);
  }
}

// While the server runs: nothing looks at the whole file then.
TEST_F(DamagedFile, APageThatIsDamagedUnderARunningStoreIsAnErrorForThoseOnItAlone) {
  open();
  for (int i = 0; i < 200; ++i) add("many-" + std::to_string(i));
  store_->release_caches();
  const std::string bytes = read_file(path_);
  const std::size_t at = bytes.find("\"many-150\"");  // in its snapshot
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = 0; i < 40; i += 7) flip(path_, (at + i) * 8);
  store_->release_caches();  // drops its caches
  const auto found = store_->find_snapshot({"many-150"});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::corrupt);
  EXPECT_NE(found.error().message.find("many-150"), std::string::npos) << found.error().message;
  EXPECT_NE(found.error().message.find("checksum"), std::string::npos) << found.error().message;
  EXPECT_TRUE(store_->find_snapshot({"many-3"}).has_value());
  // A batch with a unit that needs the page: the others are written.
  Unit broken;
  Advance next = sample::begin("many-150");
  next.from_state_version = 1;
  next.after.state_version = 2;
  broken.advances = {next};
  Unit good;
  good.advances = {sample::begin("new")};
  const std::vector<Unit> units{broken, good};
  const auto outcomes = store_->commit(units);
  ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
  EXPECT_EQ((*outcomes)[0].kind, CommitOutcome::Kind::failed);
  EXPECT_EQ((*outcomes)[0].error.code, ErrorCode::corrupt);
  EXPECT_EQ((*outcomes)[1].kind, CommitOutcome::Kind::done);
}

TEST_F(DamagedFile, ADamagedFileIsNotOpenedAndTheDamageIsNamed) {
  open();
  for (int i = 0; i < 60; ++i) add("many-" + std::to_string(i));
  store_.reset();
  const std::string bytes = read_file(path_);
  for (std::size_t i = 0; i < 40; i += 7) flip(path_, (bytes.find("\"many-15\"") + i) * 8);
  const auto refused = try_open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_NE(refused.error().message.find("wf_runtime_states"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("many-15"), std::string::npos) << refused.error().message;
  auto reader = try_open(StoreMode::read_only);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto faults = (*reader)->faults(10);
  ASSERT_TRUE(faults.has_value()) << faults.error().message;
  ASSERT_EQ(faults->size(), 1u);
  EXPECT_NE((*faults)[0].subject.find("many-15"), std::string::npos) << (*faults)[0].subject;
  // The list continues after the page.
  PageRequest page;
  std::size_t listed = 0;
  do {
    const auto rows = (*reader)->list_instances({}, page);
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    listed += rows->items.size();
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  EXPECT_GT(listed, 30u);
  EXPECT_LT(listed, 60u);
}

TEST_F(DamagedFile, WhatIsLostBehindADamagedLogIsNotForgotten) {
  leave_store(2, 40);
  put_back();
  // More than one bit, in the middle of commits that were acknowledged.
  std::string log = read_file(path_ + "-wal");
  const std::size_t at = log.size() / 3;
  for (std::size_t i = 0; i < 64; ++i) log[at + i] = static_cast<char>(~log[at + i]);
  write_file(path_ + "-wal", log);
  const auto refused = try_open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  auto reader = try_open(StoreMode::read_only);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_FALSE((*reader)->faults(10)->empty());
}

TEST_F(DamagedFile, AnEndThatWasNeverSyncedIsNoDamage) {
  leave_store(2, 10);
  put_back();
  std::string log = read_file(path_ + "-wal");
  for (std::size_t i = 1; i < 6000; ++i) log[log.size() - i] = 0;
  write_file(path_ + "-wal", log);
  open();
  EXPECT_TRUE(store_->find_instance({"log-3"})->has_value());
}

TEST_F(DamagedFile, AStoreThatIsGoneIsNotMadeAnew) {
  open();
  add("a");
  store_.reset();
  const std::string bytes = read_file(path_);
  fs::remove(path_);
  auto refused = try_open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_NE(refused.error().message.find(".lock"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(fs::exists(path_));
  write_file(path_, "");
  EXPECT_EQ(try_open().error().code, ErrorCode::not_found) << "empty";
  write_file(path_, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(try_open().error().code, ErrorCode::corrupt) << "cut";
  write_file(path_, bytes);
  open();
  EXPECT_TRUE(store_->find_instance({"a"})->has_value());
  store_.reset();
  // An operator who wants a new store removes the files.
  for (const char* end : {"", ".lock"}) fs::remove(path_ + end);
  open();
}

TEST_F(DamagedFile, ALogThatIsGoneIsMissed) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto mine = try_open();
    if (mine) store_ = std::move(*mine);
    if (mine) add("a");
    const char ready = mine.has_value() ? 'y' : 'n';
    if (::write(pipe[1], &ready, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char ready = 'n';
  ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
  ASSERT_EQ(ready, 'y');
  // A second name for the same file is no second store.
  fs::create_hard_link(path_, folder_ + "/hard.db");
  fs::create_symlink(path_, folder_ + "/soft.db");
  for (const char* name : {"/hard.db", "/soft.db"}) {
    const auto second = open_store("sqlite:" + folder_ + name, clock_);
    ASSERT_FALSE(second.has_value()) << name;
    EXPECT_EQ(second.error().code, ErrorCode::conflict) << name << ": " << second.error().message;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  fs::rename(path_ + "-wal", folder_ + "/moved");
  const auto refused = try_open();
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("-wal"), std::string::npos) << refused.error().message;
  fs::rename(folder_ + "/moved", path_ + "-wal");
  open();
  EXPECT_TRUE(store_->find_instance({"a"})->has_value());
}

TEST_F(DamagedFile, NothingIsAcknowledgedInAFileThatIsGone) {
  open();
  add("a");
  ASSERT_TRUE(store_->check_writable().has_value());
  for (const char* end : {"", "-wal"}) {
    fs::rename(path_ + end, folder_ + "/moved");
    const auto refused = commit_until_refused();
    ASSERT_FALSE(refused.has_value()) << end;
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_NE(refused.error().message.find("store_lost"), std::string::npos) << refused.error().message;
    EXPECT_FALSE(store_->check_writable().has_value());
    EXPECT_FALSE(store_->record_signal(sample::signal("s", "x")).has_value());
    fs::rename(folder_ + "/moved", path_ + end);
    EXPECT_TRUE(store_->check_writable().has_value()) << "it is back";
  }
  ASSERT_TRUE(commit(sample::begin("b")).has_value());
  fs::resize_file(path_ + "-wal", 100);
  EXPECT_FALSE(commit_until_refused().has_value()) << "the log was cut";
  EXPECT_FALSE(store_->check_writable().has_value());
}

TEST_F(DamagedFile, ANewerSchemaEndsTheWriting) {
  open();
  add("a");
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "PRAGMA user_version = 9999", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  const auto refused = commit(sample::begin("b"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_EQ(store_->check_writable().error().code, ErrorCode::unsupported);
  EXPECT_TRUE(store_->find_instance({"a"})->has_value());
  EXPECT_FALSE(store_->find_instance({"b"})->has_value());
}

TEST_F(DamagedFile, EveryPageHasAChecksum) {
  open();
  add("a");
  store_.reset();
  const std::string bytes = read_file(path_);
  ASSERT_EQ(bytes[20], sqlite::page_checksum_bytes);
  for (std::size_t page = 0; page < bytes.size() / 4096; ++page) {
    const auto* const at = reinterpret_cast<const std::uint8_t*>(bytes.data()) + page * 4096;
    EXPECT_EQ(sqlite::check_page(at, 4096, static_cast<std::uint32_t>(page + 1)), sqlite::PageState::intact) << page;
  }
}

// Looking at a store with another program is no damage, also when that puts the log into the file.
TEST_F(DamagedFile, AnotherProgramMayReadIt) {
  leave_store(5, 5);
  put_back();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "SELECT count(*) FROM wf_instances; PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr,
                         nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  open();
  EXPECT_TRUE(store_->find_instance({"log-3"})->has_value());
  add("after");
  store_.reset();
  open();
  EXPECT_TRUE(store_->find_instance({"after"})->has_value());
}

// A connection that is opened later, here because the first one met a row that is not JSON, must not take these pages
// for damaged ones either.
TEST_F(DamagedFile, WhatAnotherProgramWroteIsReadByEveryConnection) {
  open();
  for (int i = 0; i < 30; ++i) add("many-" + std::to_string(i));
  store_.reset();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other,
                         "PRAGMA ignore_check_constraints = ON;"
                         "UPDATE wf_tasks SET payload = '{broken' WHERE id IN ('task-many-3', 'task-many-20');"
                         "UPDATE wf_tasks SET payload = json_object('text', hex(zeroblob(40000))) "
                         "WHERE id = 'task-many-5'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  auto reader = try_open(StoreMode::read_only);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  for (const char* broken : {"task-many-3", "task-many-20"}) {
    const auto found = (*reader)->find_task({broken});
    ASSERT_FALSE(found.has_value()) << broken;
    EXPECT_NE(found.error().message.find("not JSON"), std::string::npos) << found.error().message;
    const auto grown = (*reader)->find_task({"task-many-5"});
    ASSERT_TRUE(grown.has_value()) << grown.error().message;
    EXPECT_EQ(write_json((*grown)->payload).size(), 80'011u);
  }
  const auto faults = (*reader)->faults(10);
  ASSERT_TRUE(faults.has_value()) << faults.error().message;
  EXPECT_TRUE(faults->empty()) << faults->front().subject;
}

// A program that writes with SQLite also puts the log into the file once it has 1000 pages, without our checksums.
TEST_F(DamagedFile, AnotherProgramMayWriteToAnOpenStore) {
  open();
  for (int i = 0; i < 30; ++i) add("many-" + std::to_string(i));
  store_->release_caches();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other,
                         "UPDATE wf_tasks SET payload = json_object('text', hex(zeroblob(40000))) "
                         "WHERE id = 'task-many-5'; PRAGMA wal_checkpoint(PASSIVE)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  for (int i = 0; i < 30; ++i) {
    const auto found = store_->find_task({"task-many-" + std::to_string(i)});
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(write_json((*found)->payload).size() == 80'011u, i == 5);
  }
  add("after");
  sqlite3_close(other);
  EXPECT_TRUE(store_->check_writable().has_value());
  const auto faults = store_->faults(10);
  ASSERT_TRUE(faults.has_value()) << faults.error().message;
  EXPECT_TRUE(faults->empty()) << faults->front().subject;
  open();
  EXPECT_TRUE(store_->find_instance({"after"})->has_value());
}

// What a program changes without a counted row: statistics, tables of its own, and the kind of log.
TEST_F(DamagedFile, AnotherProgramMayAnalyzeItAndKeepTablesInIt) {
  const auto execute = [this](const char* text) {
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(other);
    sqlite3_close(other);
  };
  const auto reopen = [this] {
    store_.reset();
    auto reader = try_open(StoreMode::read_only);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto faults = (*reader)->faults(10);
    ASSERT_TRUE(faults.has_value()) << faults.error().message;
    EXPECT_TRUE(faults->empty()) << faults->front().place << ": " << faults->front().subject;
    reader->reset();
    open();
  };
  open();
  add("one");
  // The server moves these pages from the log to the file, with its checksums.
  execute("ANALYZE");
  execute("CREATE TABLE \"a \"\"table\"\" of theirs\" (text)");
  execute("INSERT INTO \"a \"\"table\"\" of theirs\" VALUES ('first')");
  reopen();
  for (int i = 0; i < 30; ++i) add("many-" + std::to_string(i));
  reopen();
  execute("ANALYZE");
  reopen();
  execute("INSERT INTO \"a \"\"table\"\" of theirs\" VALUES (hex(zeroblob(40000)))");
  reopen();
  store_.reset();
  execute("PRAGMA journal_mode = DELETE");
  reopen();
  EXPECT_TRUE(store_->find_instance({"many-7"})->has_value());
  add("after");
}

}  // namespace
}  // namespace cairn
