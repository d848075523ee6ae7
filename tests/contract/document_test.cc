#include "sample.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(Documents);

DocumentRow view(const std::string& id, const std::string& owner = "ann") {
  return {"view", id, owner, Json::object({{"filter", "status:failed"}, {"n", 1}}), 0, {}};
}

TEST_P(Documents, AreWrittenOnlyOverTheVersionThatTheWriterHasSeen) {
  EXPECT_EQ(must(store().put_document(view("a"))), std::optional<std::uint64_t>(1));
  EXPECT_FALSE(must(store().put_document(view("a")))) << "it exists";
  DocumentRow row = *must(store().find_document("view", "a"));
  DocumentRow expected = view("a");
  expected.version = 1;
  expected.changed_at = store().now();
  EXPECT_EQ(row, expected);
  clock_.advance(Duration::of_seconds(5));
  row.body.set("n", 2);
  row.owner = "bob";
  EXPECT_EQ(must(store().put_document(row)), std::optional<std::uint64_t>(2));
  EXPECT_FALSE(must(store().put_document(row))) << "another writer was faster";
  const DocumentRow now = *must(store().find_document("view", "a"));
  EXPECT_EQ(now.owner, "bob");
  EXPECT_EQ(now.body["n"], Json(2));
  EXPECT_EQ(now.changed_at, store().now());
  EXPECT_FALSE(must(store().find_document("draft", "a"))) << "another kind";
  EXPECT_TRUE(must(store().remove_document("view", "a")));
  EXPECT_FALSE(must(store().remove_document("view", "a")));
  EXPECT_FALSE(must(store().put_document(row))) << "it is gone";
  EXPECT_EQ(must(store().put_document(view("a"))), std::optional<std::uint64_t>(1));
}

TEST_P(Documents, AreListedInTheOrderOfTheirIds) {
  for (const char* const id : {"b", "a", "d", "c", "B"}) {
    must(store().put_document(view(id, std::string(id) == "c" ? "bob" : "ann")));
  }
  must(store().put_document({"other", "a", "ann", Json::object(), 0, {}}));
  const auto ids = [](const Page<DocumentRow>& page) {
    std::string text;
    for (const DocumentRow& row : page.items) text += row.id;
    return text;
  };
  EXPECT_EQ(ids(must(store().list_documents({"view"}, {}))), "Babcd");
  EXPECT_EQ(ids(must(store().list_documents({"view", "ann"}, {}))), "Babd");
  EXPECT_EQ(ids(must(store().list_documents({"view", "nora"}, {}))), "");
  const auto first = must(store().list_documents({"view"}, {2, ""}));
  EXPECT_EQ(ids(first), "Ba");
  const auto second = must(store().list_documents({"view"}, {2, first.next_cursor}));
  EXPECT_EQ(ids(second), "bc");
  const auto third = must(store().list_documents({"view"}, {2, second.next_cursor}));
  EXPECT_EQ(ids(third), "d");
  EXPECT_TRUE(third.next_cursor.empty());
}

TEST_P(Documents, AnEventIsWrittenWithTheRowOrNotAtAll) {
  const OutboxEvent event{{"e-1"}, "cairn.alert.raised", "view/a", Json::object({{"count", 3}})};
  EXPECT_TRUE(must(store().put_document(view("a"), event)));
  EXPECT_FALSE(must(store().put_document(view("a"), OutboxEvent{{"e-2"}, "cairn.alert.raised", "view/a", Json()})));
  const auto events = must(store().list_outbox({}, {})).items;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event, event);
}

}  // namespace cairn
