#include "api/access/audit_trail.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "store/audit_chain.h"
#include "store/memory/memory_store.h"

namespace cairn::api {
namespace {

constexpr const char* private_pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIFuZnLlq32R+1hAkiNpXCgcOP0W2mn9+oHJbfCpiDdDX\n"
    "-----END PRIVATE KEY-----\n";

AuditRow row(const std::string& what, const std::string& why = "") {
  AuditRow made;
  made.who = "ada";
  made.what = what;
  made.resource = "/v1/x";
  made.why = why;
  made.details = Json::object({{"account", "key:1"}});
  return made;
}

std::vector<AuditRow> rows_of(Store& store) {
  auto page = store.list_audit({1000, ""});
  EXPECT_TRUE(page);
  return page ? page->items : std::vector<AuditRow>();
}

TEST(AuditTrail, ARowThatIsNotUtf8IsWrittenAndSoAreTheOthers) {
  SystemClock clock;
  MemoryStore store(clock);
  {
    AuditTrail trail(store);
    trail.add(row("one"));
    trail.add(row("two", std::string("bad \xff and \0 bytes", 17)));
    AuditRow strange = row("three");
    strange.details = Json::object({{"text", "\xc3"}, {"n", 1}});
    trail.add(strange);
    trail.add(row("four", std::string(100'000, 'x')));
  }
  const auto rows = rows_of(store);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].why, "bad \xEF\xBF\xBD and \xEF\xBF\xBD bytes");
  EXPECT_LE(rows[3].why.size(), 4096u);
  const auto report = verify_audit(store);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->broken_at) << report->why;
  // As an export returns it.
  for (const AuditRow& one : rows) {
    const auto text = parse_json(write_json(audit_document(one)));
    ASSERT_TRUE(text) << text.error().message;
    const auto back = audit_row_from(*text);
    ASSERT_TRUE(back);
    EXPECT_EQ(audit_hash(*back), one.hash);
  }
}

TEST(AuditTrail, CountsRefusedCallsAndWritesAFewRows) {
  SystemClock clock;
  MemoryStore store(clock);
  {
    AuditTrail trail(store, {std::nullopt, {}, std::chrono::hours(1), "n"});
    for (int i = 0; i < 10'000; ++i) trail.add_refused(row("cancelInstance"));
    for (int i = 0; i < 3; ++i) trail.add_refused(row("deployDefinition"));
  }
  const auto rows = rows_of(store);
  ASSERT_EQ(rows.size(), 4u);
  std::int64_t repeated = 0;
  for (const AuditRow& one : rows) {
    if (one.details["repeated"].is_integer()) repeated += one.details["repeated"].as_integer();
  }
  EXPECT_EQ(repeated, 9'999 + 2);
}

class Checkpoints : public testing::Test {
 protected:
  AuditSettings signing() const {
    return {*Ed25519PrivateKey::from_pem(private_pem), std::chrono::hours(1), std::chrono::hours(1), "n1"};
  }
  // Each trail signs once, when it ends.
  void write(int count) {
    AuditTrail trail(store, signing());
    for (int i = 0; i < count; ++i) trail.add(row("op" + std::to_string(i)));
  }
  static AuditReport check(const std::vector<AuditRow>& rows, const Ed25519PublicKey& key) {
    AuditCheck check({}, key);
    for (const AuditRow& one : rows) {
      if (!check.add(one)) break;
    }
    return check.finish();
  }

  SystemClock clock;
  MemoryStore store{clock};
  Ed25519PublicKey key = Ed25519PrivateKey::from_pem(private_pem)->public_key();
};

// The chain as an attacker writes it who can change every row and every hash but cannot sign.
std::vector<AuditRow> chained_anew(const std::vector<AuditRow>& rows) {
  std::vector<AuditRow> out;
  for (const AuditRow& one : rows) {
    out.push_back(chained(one, out.empty() ? std::nullopt : std::optional(out.back())));
  }
  return out;
}

TEST_F(Checkpoints, AreSignedAndCoverTheRowsBefore) {
  write(5);
  write(3);
  auto rows = rows_of(store);
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[5].what, checkpoint_operation);
  EXPECT_EQ(rows[9].what, checkpoint_operation);
  const AuditReport report = check(rows, key);
  EXPECT_FALSE(report.broken_at) << report.why;
  EXPECT_EQ(report.checkpoints, 2);
  EXPECT_EQ(report.signed_rows, 9);
  // A trail without new rows is not signed again.
  { AuditTrail idle(store, signing()); }
  EXPECT_EQ(rows_of(store).size(), 10u);
}

TEST_F(Checkpoints, ShowThatTheWholeChainWasRewritten) {
  write(5);
  std::vector<AuditRow> forged = rows_of(store);
  forged[2].who = "mallory";
  forged = chained_anew(forged);
  {
    AuditCheck without_key;
    for (const AuditRow& one : forged) without_key.add(one);
    EXPECT_FALSE(without_key.finish().broken_at);  // the hashes alone do not show it
  }
  const AuditReport report = check(forged, key);
  ASSERT_TRUE(report.broken_at);
  EXPECT_EQ(*report.broken_at, 6);
  // Removing the checkpoints, or claiming another signing key, does not help either.
  forged.pop_back();
  EXPECT_TRUE(check(forged, key).broken_at);
  const auto other = Ed25519PrivateKey::from_pem(
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIKM9qtklbmdXu16SnB6fSMmA6elGENNecRoXKYcb3LKy\n"
      "-----END PRIVATE KEY-----\n");
  ASSERT_TRUE(other);
  EXPECT_TRUE(check(rows_of(store), other->public_key()).broken_at);
}

}  // namespace
}  // namespace cairn::api
