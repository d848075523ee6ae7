// Audit rows are removed only after an export has them, and a crash at any point loses nothing.
#include "upkeep/retire_audit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "store/audit_chain.h"
#include "store/memory/memory_store.h"
#include "upkeep/retention.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr const char* private_pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIFuZnLlq32R+1hAkiNpXCgcOP0W2mn9+oHJbfCpiDdDX\n"
    "-----END PRIVATE KEY-----\n";

class RetireAudit : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("cairn_retire_audit_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    archive_ = AuditArchive{folder_.string(), *Ed25519PrivateKey::from_pem(private_pem)};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void append(int count) {
    for (int i = 0; i < count; ++i) {
      AuditRow row;
      row.who = "ada";
      row.what = "cancelInstance";
      row.resource = "/v1/instances/" + std::to_string(i);
      ASSERT_TRUE(store_.append_audit({&row, 1}).has_value());
    }
  }
  Result<std::size_t> retire(Duration age, int steps = 1'000'000) {
    return retire_audit(store_, *archive_, "n1", age, [&]() -> Result<bool> { return --steps >= 0; });
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // All exports in order, and then the rows of the store if `with_store`.
  AuditReport check(bool with_store, bool with_key = true) {
    AuditCheck check({}, with_key ? std::optional(archive_->key.public_key()) : std::nullopt);
    for (const std::string& name : files()) {
      std::ifstream file(folder_ / name);
      for (std::string line; std::getline(file, line);) {
        const Json document = *parse_json(line);
        if (const Json* seal = document.find("export")) {
          check.add(*seal_from(*seal));
        } else {
          check.add(*audit_row_from(document));
        }
      }
    }
    if (with_store) {
      const auto kept = store_.list_audit({10'000, ""});
      for (const AuditRow& row : kept->items) check.add(row);
    }
    return check.finish();
  }
  void expect_all_there(std::int64_t rows) {
    const AuditReport all = check(true);
    EXPECT_FALSE(all.broken_at) << *all.broken_at << ": " << all.why;
    EXPECT_EQ(all.first_row, 1);
    EXPECT_EQ(all.rows, rows);
    const auto stored = verify_audit(store_);
    ASSERT_TRUE(stored.has_value());
    EXPECT_FALSE(stored->broken_at) << *stored->broken_at << ": " << stored->why;
  }
  std::int64_t first_stored() { return store_.list_audit({1, ""})->items.at(0).sequence; }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  fs::path folder_;
  std::optional<AuditArchive> archive_;
};

TEST_F(RetireAudit, OldRowsAreExportedAndThenRemoved) {
  append(10);
  clock_.advance(KeepFor::days(100));
  append(3);
  clock_.advance(KeepFor::days(50));
  ASSERT_EQ(*retire(KeepFor::days(90)), 10u);
  EXPECT_EQ(files(), std::vector<std::string>{"audit-000000000001-000000000010.jsonl"});
  EXPECT_EQ(first_stored(), 11);
  expect_all_there(14);
  const AuditRow vouches = store_.list_audit({10, ""})->items.back();
  EXPECT_EQ(vouches.what, export_operation);
  EXPECT_EQ(vouches.details["through"], Json(10));
  EXPECT_EQ(*retire(KeepFor::days(90)), 0u) << "nothing else is old";
  EXPECT_EQ(files().size(), 1u);
  const AuditReport only_exports = check(false);
  EXPECT_FALSE(only_exports.broken_at) << only_exports.why;
  EXPECT_EQ(only_exports.signed_rows, 10);
}

TEST_F(RetireAudit, FewRowsWaitForMore) {
  append(5);
  clock_.advance(KeepFor::days(90));
  clock_.advance(Duration::of_seconds(3600));
  append(1);
  EXPECT_EQ(*retire(KeepFor::days(90)), 0u);
  clock_.advance(KeepFor::days(1));
  EXPECT_EQ(*retire(KeepFor::days(90)), 5u);
}

TEST_F(RetireAudit, ManyRowsAreSeveralFiles) {
  append(6000);
  clock_.advance(KeepFor::days(2));
  append(1);
  ASSERT_EQ(*retire(KeepFor::days(1)), 6000u);
  EXPECT_EQ(files(), (std::vector<std::string>{"audit-000000000001-000000005000.jsonl",
                                               "audit-000000005001-000000006000.jsonl"}));
  expect_all_there(6003);
  fs::remove(folder_ / files()[0]);
  const AuditReport later = check(true);
  EXPECT_FALSE(later.broken_at) << later.why;
  EXPECT_EQ(later.first_row, 5001) << "a later part is checked on its own";
}

TEST_F(RetireAudit, TheLastRowStays) {
  append(3);
  clock_.advance(KeepFor::days(2));
  EXPECT_EQ(*retire(Duration()), 3u) << "the third one too, when the row of the first export came after it";
  EXPECT_EQ(*retire(Duration()), 0u);
  expect_all_there(5);
}

// `steps` counts the questions whether to continue: the sweep is interrupted at each of them.
TEST_F(RetireAudit, AnInterruptedRemovalGoesOnWithTheSameFile) {
  append(3500);
  clock_.advance(KeepFor::days(2));
  append(1);
  EXPECT_EQ(*retire(KeepFor::days(1), 1), 0u) << "the file is written, nothing is removed";
  ASSERT_EQ(files().size(), 1u);
  expect_all_there(3502);
  append(50);
  clock_.advance(KeepFor::days(2));
  EXPECT_EQ(*retire(KeepFor::days(1), 2), 1000u);
  EXPECT_EQ(first_stored(), 1001);
  EXPECT_EQ(files().size(), 1u) << "the rows that are already exported are not exported again";
  EXPECT_FALSE(verify_audit(store_)->broken_at) << "part of an export is removed";
  EXPECT_EQ(*retire(KeepFor::days(1)), 2500u + 52u);
  EXPECT_EQ(files(), (std::vector<std::string>{"audit-000000000001-000000003500.jsonl",
                                               "audit-000000003501-000000003552.jsonl"}));
  const AuditReport all = check(true);
  EXPECT_FALSE(all.broken_at) << *all.broken_at << ": " << all.why;
}

// A row whose contents were changed behind the engine's back.
class AlteredStore final : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  Result<Page<AuditRow>> list_audit(const PageRequest& request) override {
    auto page = MemoryStore::list_audit(request);
    for (AuditRow& row : page->items) {
      if (row.sequence == 3) row.who = "eve";
    }
    return page;
  }
};

TEST_F(RetireAudit, ARowThatDoesNotContinueTheChainKeepsEverything) {
  AlteredStore altered(clock_);
  for (int i = 0; i < 5; ++i) {
    AuditRow row;
    row.who = "ada";
    ASSERT_TRUE(altered.append_audit({&row, 1}).has_value());
  }
  clock_.advance(KeepFor::days(2));
  const auto refused = retire_audit(altered, *archive_, "n1", KeepFor::days(1), []() -> Result<bool> { return true; });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(altered.list_audit({})->items.size(), 5u);
}

TEST_F(RetireAudit, RowsThatAnIntruderRemovedAreNotVouchedFor) {
  append(5);
  clock_.advance(KeepFor::days(2));
  ASSERT_EQ(*store_.retire_audit(2, 5), 2u);
  EXPECT_EQ(verify_audit(store_)->broken_at, 3);
  const auto refused = retire(KeepFor::days(1));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_EQ(first_stored(), 3);
  std::ofstream(folder_ / "audit-000000000003-000000000009.jsonl") << "{}\n";
  EXPECT_FALSE(retire(KeepFor::days(1)).has_value()) << "the file is not an export";
}

TEST_F(RetireAudit, ExportsMayBeMovedAway) {
  append(5);
  clock_.advance(KeepFor::days(2));
  append(5);
  ASSERT_EQ(*retire(KeepFor::days(1)), 5u);
  fs::remove(folder_ / files()[0]);
  clock_.advance(KeepFor::days(2));
  append(1);
  EXPECT_EQ(*retire(KeepFor::days(1)), 6u) << "five rows and the row of the first export";
  EXPECT_FALSE(verify_audit(store_)->broken_at);
}

TEST_F(RetireAudit, AFolderThatCannotBeWrittenKeepsEverything) {
  append(5);
  clock_.advance(KeepFor::days(2));
  archive_->folder = (folder_ / "missing").string();
  EXPECT_FALSE(retire(KeepFor::days(1)).has_value());
  EXPECT_EQ(first_stored(), 1);
  EXPECT_EQ(store_.list_audit({})->items.size(), 5u);
}

TEST_F(RetireAudit, ForgedExportsAreFound) {
  append(5);
  clock_.advance(KeepFor::days(2));
  append(1);
  ASSERT_EQ(*retire(KeepFor::days(1)), 5u);
  const fs::path path = folder_ / files()[0];
  std::string text;
  {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto broken = [&](const std::string& from, const std::string& to, bool with_key) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    std::ofstream(path) << changed;
    return check(false, with_key).broken_at.has_value();
  };
  EXPECT_FALSE(broken("ada", "ada", true));
  EXPECT_TRUE(broken("ada", "eve", false)) << "a row was changed";
  EXPECT_TRUE(broken("\"through\":5", "\"through\":4", false)) << "the seal is of other rows";
  EXPECT_TRUE(broken("\"signature\":\"", "\"signature\":\"00", true)) << "the seal is not signed";
  EXPECT_TRUE(broken(text.substr(0, text.find('\n') + 1), "", true)) << "the first row is missing";
}

// Time passes while it works, and each export adds a row.
class TickingStore final : public MemoryStore {
 public:
  explicit TickingStore(ManualClock& clock) : MemoryStore(clock), clock_(clock) {}
  Timestamp now() override {
    clock_.advance(Duration::of_ms(1));
    return MemoryStore::now();
  }

 private:
  ManualClock& clock_;
};

TEST_F(RetireAudit, ItEndsThoughEachExportAddsARow) {
  TickingStore ticking(clock_);
  for (int i = 0; i < 5; ++i) {
    AuditRow row;
    row.who = "ada";
    ASSERT_TRUE(ticking.append_audit({&row, 1}).has_value());
  }
  int steps = 100;
  const auto may_continue = [&]() -> Result<bool> { return --steps > 0; };
  EXPECT_EQ(*retire_audit(ticking, *archive_, "n1", Duration(), may_continue), 5u);
  EXPECT_EQ(*retire_audit(ticking, *archive_, "n1", Duration(), may_continue), 0u)
      << "only rows about exports are left";
  EXPECT_GT(steps, 0);
  EXPECT_EQ(files().size(), 2u);
}

// Without a folder and a key nothing may be removed.
TEST_F(RetireAudit, AnEngineWithoutAnArchiveRefuses) {
  auto core = EngineCore::open(store_, {});
  ASSERT_TRUE(core.has_value());
  append(3);
  clock_.advance(KeepFor::days(2));
  const auto refused = run_retention(**core, {.audit = KeepFor::days(1)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  CoreOptions with;
  with.audit_archive = archive_;
  auto archiving = EngineCore::open(store_, with);
  ASSERT_TRUE(archiving.has_value());
  const auto report = run_retention(**archiving, {.audit = KeepFor::days(1)});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->audit, 3u);
}

}  // namespace
}  // namespace cairn
