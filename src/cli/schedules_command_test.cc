// cairn schedules on a local store, as a person types it.
#include <fstream>

#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

class SchedulesCommand : public LocalStoreTest {
 protected:
  void SetUp() override {
    std::ofstream(folder_ + "/report.yaml")
        << "cairn: 1\nname: report\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n";
    ASSERT_EQ(run({"start", folder_ + "/report.yaml"}), 0) << err_.str();
  }
};

TEST_F(SchedulesCommand, FollowsOneFromCreationToTheEnd) {
  ASSERT_EQ(run({"schedules", "create", "leap", "--cron", "0 12 29 2 *", "--zone", "Europe/Berlin", "--definition",
                 "report", "--overlap", "queue", "--json"}),
            0)
      << err_.str();
  EXPECT_EQ(json()["zone"], Json("Europe/Berlin"));
  EXPECT_EQ(run({"schedules", "create", "leap", "--every", "1h", "--definition", "report"}), 6) << "the name is taken";
  ASSERT_EQ(run({"schedules", "preview", "leap", "--count", "2"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("-02-29T11:00:00Z\n"), std::string::npos) << out_.str();
  ASSERT_EQ(run({"schedules"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("0 12 29 2 * Europe/Berlin"), std::string::npos) << out_.str();
  ASSERT_EQ(run({"schedules", "trigger", "leap"}), 0) << err_.str();
  EXPECT_TRUE(out_.str().starts_with("leap@20")) << out_.str();
  ASSERT_EQ(run({"schedules", "pause", "leap"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "leap paused\n");
  ASSERT_EQ(run({"schedules", "resume", "leap"}), 0) << err_.str();
  EXPECT_TRUE(out_.str().starts_with("leap next 20")) << out_.str();
  ASSERT_EQ(run({"schedules", "change", "leap", "--every", "1h", "--json"}), 0) << err_.str();
  EXPECT_EQ(json()["every"], Json("PT1H"));
  EXPECT_EQ(json().find("cron"), nullptr);
  ASSERT_EQ(run({"schedules", "show", "leap", "--json"}), 0);
  EXPECT_EQ(json()["start"]["definition"], Json("report"));
  ASSERT_EQ(run({"schedules", "delete", "leap"}), 0) << err_.str();
  EXPECT_EQ(run({"schedules", "show", "leap"}), 3);
}

TEST_F(SchedulesCommand, SaysWhatIsWrong) {
  EXPECT_EQ(run({"schedules", "create", "x", "--cron", "61 * * * *", "--definition", "report"}), 8);
  EXPECT_NE(err_.str().find("/cron: the minute `61` is out of range"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"schedules", "create", "x", "--every", "1h"}), 8);
  EXPECT_EQ(run({"schedules", "create", "x", "--every", "1h", "--definition", "nobody"}), 3);
  EXPECT_EQ(run({"schedules", "fire", "x"}), 2);
  EXPECT_EQ(run({"schedules", "pause"}), 2);
}

}  // namespace
}  // namespace cairn::cli
