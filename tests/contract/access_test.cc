#include "sample.h"
#include "store/audit_chain.h"
#include "store/audit_scope.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(ApiKeys);
CAIRN_CONTRACT(AuditTrail);

ApiKeyRow key(const std::string& id) {
  ApiKeyRow row;
  row.id = id;
  row.secret_hash = "hash of " + id;
  row.subject = "billing";
  row.roles = {"worker", "viewer"};
  row.scope = Json::object({{"prefixes", Json::array({"billing."})}});
  row.note = "for the night run";
  row.expires_at = Timestamp::of_unix_ms(1'800'000'000'000);
  return row;
}

TEST_P(ApiKeys, AreFoundByTheHashOfTheirSecret) {
  must(store().put_api_key(key("k1")));
  must(store().put_api_key(key("k2")));
  const auto found = must(store().find_api_key("hash of k2"));
  ASSERT_TRUE(found);
  ApiKeyRow expected = key("k2");
  expected.created_at = store().now();
  EXPECT_EQ(*found, expected);
  EXPECT_FALSE(must(store().find_api_key("k2")));
  EXPECT_EQ(must(store().list_api_keys()).size(), 2u);
}

TEST_P(ApiKeys, ARevokedOneStaysRevokedFromTheFirstTime) {
  must(store().put_api_key(key("k1")));
  EXPECT_TRUE(must(store().revoke_api_key("k1")));
  const Timestamp first = store().now();
  clock_.advance(Duration::of_seconds(5));
  EXPECT_TRUE(must(store().revoke_api_key("k1")));
  EXPECT_FALSE(must(store().revoke_api_key("k9")));
  EXPECT_EQ(must(store().find_api_key("hash of k1"))->revoked_at, first);
}

TEST_P(ApiKeys, TheLastRolesOfATokenUserAreKept) {
  const TokenUserRow ann{"https://id.example#1", "ann", {"task_worker"}, {"clerk", "lead"}};
  TokenUserRow other{"https://id.example#2", "ann", {}, {}};
  must(store().put_token_user(other));
  must(store().put_token_user(ann));
  must(store().put_token_user(ann));
  must(store().put_token_user({"https://id.example#3", "bob", {"viewer"}, {}}));
  EXPECT_EQ(must(store().find_token_users("ann")), (std::vector{ann, other}));
  other.roles = {"operator"};
  must(store().put_token_user(other));
  EXPECT_EQ(must(store().find_token_users("ann")), (std::vector{ann, other}));
  other.person = "carl";
  must(store().put_token_user(other));
  EXPECT_EQ(must(store().find_token_users("ann")), (std::vector{ann}));
  EXPECT_TRUE(must(store().find_token_users("nobody")).empty());
}

TEST_P(ApiKeys, TokenUsersThatAreNoLongerSeenAreRemoved) {
  const auto remove = [&](Timestamp before, std::size_t max = 1000) {
    RowRetention request;
    request.users_before = before;
    request.max = max;
    return must(store().retire_rows(request));
  };
  for (int i = 0; i < 5; ++i) must(store().put_token_user({"#" + std::to_string(i), "many", {"viewer"}, {}}));
  const TokenUserRow ann{"#ann", "ann", {"viewer"}, {}};
  must(store().put_token_user(ann));
  EXPECT_EQ(remove(store().now()).users, 0u) << "seen now";
  // A token with the same roles counts too, if a day has passed.
  clock_.advance(Duration::of_seconds(token_seen_step_s + 60));
  must(store().put_token_user(ann));
  const Timestamp since = store().now();
  EXPECT_EQ(must(store().retire_rows({})).users, 0u) << "nothing was asked for";
  const RowRetentionOutcome part = remove(since, 2);
  EXPECT_EQ(part.users, 2u);
  EXPECT_TRUE(part.more);
  EXPECT_EQ(remove(since).users, 3u);
  EXPECT_TRUE(must(store().find_token_users("many")).empty());
  EXPECT_EQ(must(store().find_token_users("ann")), std::vector{ann});
}

AuditRow change(const std::string& what) {
  AuditRow row;
  row.who = "ada";
  row.what = what;
  row.resource = "i-1";
  row.why = "asked by phone";
  row.from = "10.0.0.1";
  row.details = Json::object({{"status", 200}});
  return row;
}

TEST_P(AuditTrail, IsAChainWithoutGaps) {
  const std::vector<AuditRow> two{change("instance.cancel"), change("instance.retry")};
  must(store().append_audit(two));
  clock_.advance(Duration::of_seconds(1));
  must(store().append_audit(std::span(two).first(1)));
  const Page<AuditRow> first = must(store().list_audit({2, ""}));
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].sequence, 1);
  EXPECT_EQ(first.items[0].previous_hash, "");
  EXPECT_EQ(first.items[1].previous_hash, first.items[0].hash);
  EXPECT_EQ(first.items[1].what, "instance.retry");
  EXPECT_EQ(first.items[1].details, Json::object({{"status", 200}}));
  const Page<AuditRow> rest = must(store().list_audit({2, first.next_cursor}));
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].sequence, 3);
  EXPECT_EQ(rest.items[0].at, store().now());
  EXPECT_EQ(rest.items[0].hash, audit_hash(rest.items[0]));
  EXPECT_TRUE(rest.next_cursor.empty());
  const AuditReport report = must(verify_audit(store()));
  EXPECT_EQ(report.rows, 3);
  EXPECT_FALSE(report.broken_at);
}

TEST_P(AuditTrail, TheOldestRowsAreRemovedAndTheLastOneStays) {
  for (int i = 0; i < 5; ++i) must(store().append_audit(std::vector<AuditRow>{change("one")}));
  EXPECT_EQ(must(store().retire_audit(3, 2)), 2u) << "at most two";
  EXPECT_EQ(must(store().retire_audit(3, 2)), 1u);
  EXPECT_EQ(must(store().retire_audit(3, 2)), 0u);
  const auto left = must(store().list_audit({1, ""}));
  ASSERT_EQ(left.items.size(), 1u);
  EXPECT_EQ(left.items[0].sequence, 4);
  EXPECT_EQ(left.next_cursor, "4");
  EXPECT_EQ(must(store().list_audit({9, "2"})).items.size(), 2u);
  EXPECT_EQ(must(store().retire_audit(99, 99)), 1u);
  must(store().append_audit(std::vector<AuditRow>{change("next")}));
  const auto rows = must(store().list_audit({9, ""})).items;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].sequence, 6);
  EXPECT_EQ(rows[1].previous_hash, rows[0].hash);
  EXPECT_EQ(must(verify_audit(store())).broken_at, 5) << "no export has the rows that are gone";
}

TEST_P(AuditTrail, AHashThatWasKeptElsewhereShowsThatTheEndIsMissing) {
  must(store().append_audit(std::vector<AuditRow>{change("instance.cancel")}));
  const std::string kept = must(verify_audit(store())).last_hash;
  EXPECT_FALSE(must(verify_audit(store(), kept)).broken_at);
  EXPECT_EQ(must(verify_audit(store(), std::string(64, 'f'))).broken_at, 2);
}

TEST_P(AuditTrail, ARowOfAnyBytesIsWrittenAndSoAreTheOthers) {
  std::vector<AuditRow> rows{change("one"), change("two"), change("three")};
  rows[1].why = std::string("\xff \0 \xe2\x82", 6);
  rows[1].who = std::string(100'000, 'w');
  rows[1].details = Json::object({{"text", "\xc3("}});
  must(store().append_audit(rows));
  Unit unit;
  unit.advances.push_back(sample::begin("a"));
  unit.audit = rows;
  for (AuditRow& row : unit.audit) row.at = store().now();
  ASSERT_EQ(commit(unit).kind, CommitOutcome::Kind::done);
  const Page<AuditRow> found = must(store().list_audit({10, ""}));
  ASSERT_EQ(found.items.size(), 6u);
  EXPECT_EQ(found.items[4].why, "\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(found.items[5].what, "three");
  const AuditReport report = must(verify_audit(store()));
  EXPECT_EQ(report.rows, 6);
  EXPECT_FALSE(report.broken_at) << report.why;
}

TEST_P(AuditTrail, AUnitBringsItsRowsAndOneThatIsRefusedNone) {
  Unit unit;
  unit.advances.push_back(sample::begin("a"));
  unit.audit.push_back(change("startInstance"));
  unit.audit.back().at = store().now();
  ASSERT_EQ(commit(unit).kind, CommitOutcome::Kind::done);
  EXPECT_EQ(commit(unit).kind, CommitOutcome::Kind::stale);
  const Page<AuditRow> rows = must(store().list_audit({10, ""}));
  ASSERT_EQ(rows.items.size(), 1u);
  EXPECT_EQ(rows.items[0].what, "startInstance");
  EXPECT_EQ(must(verify_audit(store())).rows, 1);
}

TEST_P(AuditTrail, AChangeTakesAlongWhatItsThreadOwes) {
  if (GetParam() == BackEnd::memory) GTEST_SKIP() << "nothing outlives the process";
  AuditScope audit_scope({change("createKey")});
  {
    const AuditScope::Enter scope(audit_scope);
    must(store().put_api_key(key("k1")));
    must(store().put_api_key(key("k2")));  // nothing is owed any more
  }
  EXPECT_TRUE(audit_scope.take().empty());
  EXPECT_EQ(must(store().list_audit({10, ""})).items.size(), 1u);
  must(store().put_api_key(key("k3")));  // without an audit scope
  EXPECT_EQ(must(verify_audit(store())).rows, 1);
}

TEST_P(AuditTrail, WhatFailsLeavesTheRowsOwed) {
  if (GetParam() == BackEnd::memory) GTEST_SKIP() << "nothing outlives the process";
  AuditScope audit_scope({change("cancelInstance")});
  {
    const AuditScope::Enter scope(audit_scope);
    Unit wrong;  // of an instance that is not there
    wrong.advances = {sample::next(sample::begin("nowhere").after)};
    EXPECT_NE(commit(wrong).kind, CommitOutcome::Kind::done);
  }
  if (GetParam() == BackEnd::sqlite || GetParam() == BackEnd::sqlite_reopened) {
    EXPECT_EQ(audit_scope.take().size(), 1u);  // no row was changed
    EXPECT_TRUE(must(store().list_audit({10, ""})).items.empty());
  }
}

}  // namespace cairn
