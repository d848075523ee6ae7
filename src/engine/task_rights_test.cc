#include "engine/task_rights.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

using Roles = std::vector<std::string>;
using Kind = TaskChange::Kind;

TaskRow task(const std::string& assignee = "") {
  TaskRow row;
  row.id = {"t"};
  row.roles = {"clerk"};
  row.managers = {"lead"};
  row.exclude = {"mallory"};
  row.assignee = assignee;
  return row;
}

Actor person(const std::string& name, Roles roles) { return {name, std::move(roles)}; }
const Actor clerk = person("ann", {"clerk"});
const Actor guest = person("gil", {"guest"});
const Actor lead = person("lea", {"lead"});
const Actor operators{"oz", Roles(), true};

bool may_change(const TaskRow& row, Kind kind, const Actor& actor, const std::string& assignee = "",
                const std::optional<Roles>& assignee_roles = {}) {
  TaskChange change;
  change.kind = kind;
  change.assignee = assignee;
  return !refuse_change(row, change, actor, assignee_roles);
}

TEST(TaskRights, RolesAndManagersMayRead) {
  EXPECT_FALSE(refuse_reading(task(), clerk));
  EXPECT_FALSE(refuse_reading(task(), lead));
  EXPECT_FALSE(refuse_reading(task(), operators));
  EXPECT_TRUE(refuse_reading(task("gil"), guest)) << "to be the assignee gives no right";
  const auto refused = refuse_reading(task(), guest);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::not_allowed);
  EXPECT_NE(refused->message.find("clerk"), std::string::npos) << refused->message;
  TaskRow anybody = task();
  anybody.roles = {};
  EXPECT_FALSE(refuse_reading(anybody, guest));
}

TEST(TaskRights, AnAssignedTaskIsItsAssignees) {
  EXPECT_FALSE(refuse_completion(task(), clerk));
  EXPECT_FALSE(refuse_completion(task("ann"), clerk));
  EXPECT_TRUE(refuse_completion(task("bob"), clerk));
  EXPECT_FALSE(refuse_completion(task("bob"), lead));
  EXPECT_FALSE(refuse_completion(task("bob"), operators));
  EXPECT_TRUE(refuse_completion(task(), guest));
  EXPECT_TRUE(refuse_completion(task("gil"), guest));
}

TEST(TaskRights, OnlyManagersTakeATaskFromItsAssignee) {
  EXPECT_FALSE(may_change(task("bob"), Kind::reassign, clerk, "ann"));
  EXPECT_FALSE(may_change(task("bob"), Kind::release, clerk));
  EXPECT_TRUE(may_change(task("ann"), Kind::release, clerk));
  EXPECT_TRUE(may_change(task("ann"), Kind::reassign, clerk, "bob", Roles{"clerk"}));
  for (const Actor& manager : {lead, operators}) {
    EXPECT_TRUE(may_change(task("bob"), Kind::reassign, manager, "ann", Roles{"clerk"}));
    EXPECT_TRUE(may_change(task("bob"), Kind::release, manager));
  }
  EXPECT_FALSE(may_change(task(), Kind::assign, guest, "gil"));
  EXPECT_FALSE(may_change(task(), Kind::comment, guest));
  EXPECT_TRUE(may_change(task("bob"), Kind::comment, clerk));
}

TEST(TaskRights, WhoCannotCompleteATaskIsNotItsAssignee) {
  EXPECT_FALSE(may_change(task(), Kind::assign, lead, "gil", Roles{"guest"}));
  EXPECT_TRUE(may_change(task(), Kind::assign, lead, "bob", Roles{"clerk"}));
  EXPECT_TRUE(may_change(task(), Kind::assign, lead, "bob")) << "not known: their token will tell";
  EXPECT_FALSE(may_change(task(), Kind::assign, operators, "mallory", Roles{"clerk"})) << "excluded";
  EXPECT_FALSE(may_change(task("gil"), Kind::reassign, guest, "gil")) << "being the assignee is no role";
}

TEST(TaskRights, WithoutRolesNothingIsCheckedButTheExclusion) {
  const Actor unchecked;
  EXPECT_FALSE(refuse_completion(task("bob"), unchecked));
  EXPECT_TRUE(may_change(task("bob"), Kind::reassign, unchecked, "zoe"));
  EXPECT_FALSE(may_change(task(), Kind::assign, unchecked, "mallory"));
  EXPECT_FALSE(viewer_roles_of(unchecked));
  EXPECT_FALSE(viewer_roles_of(operators));
  EXPECT_EQ(viewer_roles_of(clerk), Roles{"clerk"});
}

}  // namespace
}  // namespace cairn
