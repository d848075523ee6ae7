#include <set>

#include "sample.h"
#include "store/error_fingerprint.h"
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

// Every store finds the same rows, whatever characters a text has. Only the case of ASCII letters is ignored.
TEST_P(Filters, HostileTextsMatchAlike) {
  const std::string many_a(300, 'a');
  const std::vector<std::string> keys = {
      "100% sure",   "100x sure",   "under_score", "underXscore", R"(back\slash)",       "backslash",
      "Caf\u00c9-7", "caf\u00e9-7", "it's \"so\"", many_a,        many_a + "b" + many_a, "\U0001F600 smile",
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string n = std::to_string(i + 10);
    Advance advance = referenced("i-" + n, keys[i], "Part of " + keys[i]);
    sample::add_task(advance, "t-" + n, "Approve");
    advance.tasks_opened.back().reference = advance.after.reference;
    commit(advance);
  }
  const auto found = [&](const std::string& text) {
    InstanceFilter filter;
    filter.text = text;
    std::set<std::string> rows;
    PageRequest page{5, ""};
    do {
      const auto read = must(store().list_instances(filter, page));
      for (const InstanceRow& row : read.items) rows.insert(std::string(row.reference.key.as_string()));
      page.cursor = read.next_cursor;
    } while (!page.cursor.empty());
    TaskFilter tasks;
    tasks.text = text;
    std::set<std::string> of_tasks;
    for (const TaskRow& row : must(store().list_tasks(tasks, {100, ""})).items) {
      of_tasks.insert(std::string(row.reference.key.as_string()));
    }
    EXPECT_EQ(of_tasks, rows) << text;
    return rows;
  };
  using Keys = std::set<std::string>;
  EXPECT_EQ(found("%"), Keys{"100% sure"});
  EXPECT_EQ(found("100_ SURE"), Keys{});
  EXPECT_EQ(found("0% s"), Keys{"100% sure"});
  EXPECT_EQ(found("R_s"), Keys{"under_score"});
  EXPECT_EQ(found("\\"), Keys{R"(back\slash)"});
  EXPECT_EQ(found("K\\S"), Keys{R"(back\slash)"});
  EXPECT_EQ(found("\\\\"), Keys{});
  EXPECT_EQ(found("\""), Keys{"it's \"so\""});
  EXPECT_EQ(found("'S \"SO"), Keys{"it's \"so\""});
  EXPECT_EQ(found("CAF\u00c9"), Keys{"Caf\u00c9-7"}) << "letters outside ASCII keep their case";
  EXPECT_EQ(found("caf\u00e9"), Keys{"caf\u00e9-7"});
  EXPECT_EQ(found("\U0001F600"), Keys{"\U0001F600 smile"});
  EXPECT_EQ(found("\U0001F600 sMILe"), Keys{"\U0001F600 smile"});
  EXPECT_EQ(found("part of \u00c9 and what is not there"), Keys{});
  EXPECT_EQ(found("Part of \U0001F600"), Keys{"\U0001F600 smile"});
  EXPECT_EQ(found("part of the one \u00e9"), Keys{});
  EXPECT_EQ(found("Part of CAF\u00c9-7"), Keys{"Caf\u00c9-7"});
  EXPECT_EQ(found("xxPart of \U0001F600 smile"), Keys{});
  EXPECT_EQ(found(std::string(199, 'A') + "b"), Keys{keys[10]});
  EXPECT_EQ(found("b" + std::string(199, 'a')), Keys{keys[10]});
  EXPECT_EQ(found(std::string(200, 'a')), (Keys{keys[9], keys[10]}));
  EXPECT_EQ(found(std::string(199, 'a') + "c"), Keys{});
  EXPECT_EQ(found(std::string("sure\0", 5)), Keys{});
  EXPECT_EQ(found("\xff" + std::string(20, 'a')), Keys{});
  EXPECT_EQ(found("\xff"), Keys{});
  EXPECT_EQ(found("sure\xff"), Keys{});
  EXPECT_EQ(found("[a-z]*"), Keys{});
  EXPECT_EQ(found("sUrE").size(), 2u);
  EXPECT_EQ(found("7").size(), keys.size()) << "the number of the branch is a text too";
}

// Parts of a reference that are no texts are searched as the JSON that callers see.
TEST_P(Filters, PartsOfEveryKindMatchAlike) {
  const std::vector<std::pair<std::string, Json>> parts = {
      {"fraction", Json(0.25)},
      {"small", Json(1e-9)},
      {"large", Json(std::int64_t{9'007'199'254'740'993})},
      {"yes", Json(true)},
      {"nothing", Json()},
      {"list", *parse_json(R"([1,"Two"])")},
      {"object", *parse_json(R"({"deep":{"er":1}})")},
  };
  for (const auto& [name, value] : parts) {
    Advance advance = sample::begin("i-" + name);
    advance.after.reference.key = "k";
    advance.after.reference.parts = Json::object({{"part", value}});
    commit(advance);
  }
  for (const auto& [name, value] : parts) {
    InstanceFilter filter;
    filter.text = write_json(value);
    EXPECT_EQ(ids(must(store().list_instances(filter, {}))), std::vector<std::string>{"i-" + name}) << filter.text;
  }
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

Failure failure(const std::string& step, const std::string& message) {
  Failure made;
  made.code = "bank_down";
  made.message = message;
  made.step = step;
  return made;
}

TEST_P(Filters, InstancesByTheErrorThatTheyHave) {
  const auto fail = [&](const std::string& id, Status status, const Failure& error) {
    Advance advance = sample::begin(id);
    advance.after.status = status;
    advance.after.error = error;
    commit(advance);
  };
  fail("i-1", Status::suspended, failure("charge", "order 1200345 was refused"));
  fail("i-2", Status::suspended, failure("charge", "order 88 was refused"));
  fail("i-3", Status::suspended, failure("ship", "order 88 was refused"));
  fail("i-4", Status::failed, failure("charge", "order 7712 was refused"));
  fail("i-5", Status::suspended, failure("charge", "order 1200346 was refused"));
  InstanceFilter filter;
  filter.status = Status::suspended;
  filter.fingerprint = error_fingerprint("sample", failure("charge", "order 9999999 was refused"));
  EXPECT_EQ(ids(must(store().list_instances(filter, {}))), (std::vector<std::string>{"i-5", "i-1"}))
      << "ids in the message do not count; short numbers do";
  const auto first = must(store().list_instances(filter, {1, ""}));
  EXPECT_EQ(ids(first), std::vector<std::string>{"i-5"});
  EXPECT_EQ(ids(must(store().list_instances(filter, {1, first.next_cursor}))), std::vector<std::string>{"i-1"});
  filter.fingerprint.clear();
  filter.step = "ship";
  EXPECT_EQ(ids(must(store().list_instances(filter, {}))), std::vector<std::string>{"i-3"});
}

TEST_P(Filters, InstancesThatAreTriedAgain) {
  for (const char* const id : {"i-1", "i-2", "i-3", "i-4"}) {
    Advance advance = sample::begin(id);
    sample::add_run(advance, std::string("r-") + id);
    commit(advance);
  }
  const auto lease = [&] {
    LeaseRequest request;
    request.worker = "w";
    request.max = 10;
    request.length = Duration::of_seconds(30);
    return must(store().lease_runs(request));
  };
  InstanceFilter filter;
  filter.retrying = true;
  RunFilter runs;
  runs.retrying = true;
  const auto run_ids = [&] {
    std::vector<std::string> list;
    for (const RunRow& row : must(store().list_runs(runs, {})).items) list.push_back(row.id.value);
    return list;
  };
  std::vector<RunChange> retries;
  for (const RunRow& run : lease()) {
    EXPECT_TRUE(must(store().list_instances(filter, {})).items.empty()) << "the first attempt is no retry";
    if (run.id.value == "r-i-4") continue;  // still at its first attempt
    RunChange retry;
    retry.kind = RunChange::Kind::retry;
    retry.run = run.id;
    retry.fence = run.fence;
    retry.length = Duration::of_seconds(run.id.value == "r-i-3" ? 100 : 1);
    retry.error = Json::object({{"code", "busy"}});
    retries.push_back(retry);
  }
  for (const RunChange& retry : retries) must(store().change_run(retry));
  EXPECT_EQ(ids(must(store().list_instances(filter, {}))), (std::vector<std::string>{"i-3", "i-2", "i-1"}));
  EXPECT_EQ(run_ids(), (std::vector<std::string>{"r-i-3", "r-i-2", "r-i-1"}));
  const auto first = must(store().list_instances(filter, {2, ""}));
  EXPECT_EQ(ids(first), (std::vector<std::string>{"i-3", "i-2"}));
  EXPECT_EQ(ids(must(store().list_instances(filter, {2, first.next_cursor}))), std::vector<std::string>{"i-1"});
  filter.step = "call";
  EXPECT_EQ(must(store().list_instances(filter, {})).items.size(), 3u);
  filter.step = "other";
  EXPECT_TRUE(must(store().list_instances(filter, {})).items.empty());
  filter.step.clear();
  // Also while the next attempt is made; not any more when the run has ended.
  clock_.advance(Duration::of_seconds(2));
  const auto second = lease();
  EXPECT_EQ(second.size(), 2u);
  EXPECT_EQ(ids(must(store().list_instances(filter, {}))), (std::vector<std::string>{"i-3", "i-2", "i-1"}));
  Advance suspended = sample::next(*must(store().find_snapshot({"i-3"})));
  suspended.after.status = Status::suspended;
  commit(suspended);
  EXPECT_EQ(ids(must(store().list_instances(filter, {}))), (std::vector<std::string>{"i-2", "i-1"}));
}

}  // namespace cairn
