#include "sample.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(Filters);

Advance referenced(const std::string& id, const std::string& key, const std::string& customer) {
  Advance advance = sample::begin(id);
  advance.after.reference.key = key;
  advance.after.reference.parts = Json::object({{"customer", customer}, {"branch", 7}});
  return advance;
}

std::vector<std::string> ids(const Page<InstanceRow>& page) {
  std::vector<std::string> list;
  for (const InstanceRow& row : page.items) list.push_back(row.id.value);
  return list;
}

TEST_P(Filters, InstancesByVersionPartsAndText) {
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    Advance advance = referenced("i-" + n, "LOAN-" + n, i % 2 == 0 ? "Ada" : "Grace");
    if (i == 5) advance.after.program.version = "2.0.0";
    commit(advance);
  }
  InstanceFilter version;
  version.version = "2.0.0";
  EXPECT_EQ(ids(must(store().list_instances(version, {}))), std::vector<std::string>{"i-5"});
  InstanceFilter parts;
  parts.reference_parts = {{"customer", "Ada"}, {"branch", "7"}};
  EXPECT_EQ(ids(must(store().list_instances(parts, {}))), (std::vector<std::string>{"i-4", "i-2", "i-0"}));
  const auto first = must(store().list_instances(parts, {2, ""}));
  EXPECT_EQ(ids(first), (std::vector<std::string>{"i-4", "i-2"}));
  EXPECT_EQ(ids(must(store().list_instances(parts, {2, first.next_cursor}))), std::vector<std::string>{"i-0"});
  parts.reference_parts.emplace_back("customer", "Grace");
  EXPECT_TRUE(must(store().list_instances(parts, {})).items.empty());
  for (const char* text : {"loan-3", "I-3", "an-3"}) {
    InstanceFilter filter;
    filter.text = text;
    EXPECT_EQ(ids(must(store().list_instances(filter, {}))), std::vector<std::string>{"i-3"}) << text;
  }
  InstanceFilter everybody;
  everybody.text = "grace";
  EXPECT_EQ(must(store().list_instances(everybody, {})).items.size(), 3u);
  everybody.text = "%";
  EXPECT_TRUE(must(store().list_instances(everybody, {})).items.empty());
}

TEST_P(Filters, TasksByReferenceTextAndDueTime) {
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    Advance advance = referenced("i-" + n, "LOAN-" + n, "Ada");
    sample::add_task(advance, "t-" + n, i == 0 ? "Approve" : "Review");
    advance.tasks_opened.back().reference = advance.after.reference;
    if (i == 2) advance.tasks_opened.back().deadline = sample::start_of_time;
    commit(advance);
  }
  const auto only = [this](const TaskFilter& filter) {
    std::vector<std::string> list;
    for (const TaskRow& row : must(store().list_tasks(filter, {})).items) list.push_back(row.id.value);
    return list;
  };
  TaskFilter reference;
  reference.reference_key = "LOAN-1";
  EXPECT_EQ(only(reference), std::vector<std::string>{"t-1"});
  TaskFilter text;
  text.text = "appro";
  EXPECT_EQ(only(text), std::vector<std::string>{"t-0"});
  TaskFilter overdue;
  overdue.due_before = Timestamp::of_unix_ms(sample::start_of_time.unix_ms() + 1);
  EXPECT_EQ(only(overdue), std::vector<std::string>{"t-2"});
  TaskFilter all;
  all.text = "loan";
  const auto first = must(store().list_tasks(all, {3, ""}));
  EXPECT_EQ(first.items.size(), 3u);
  EXPECT_EQ(must(store().list_tasks(all, {3, first.next_cursor})).items.size(), 1u);
}

}  // namespace cairn
