// cairn schedules on a local store, as a person types it.
#include "cli/commands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"

namespace cairn::cli {
namespace {

class SchedulesCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "cairn_schedules_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/report.yaml")
        << "cairn: 1\nname: report\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n";
    ASSERT_EQ(run({"start", folder_ + "/report.yaml"}), 0) << err_.str();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  int run(std::vector<std::string> args) {
    args.insert(args.end(), {"--store", "sqlite:" + folder_ + "/store.db"});
    std::istringstream in;
    out_.str("");
    err_.str("");
    return run_cairn(args, in, out_, err_);
  }
  Json json() {
    auto parsed = parse_json(out_.str());
    EXPECT_TRUE(parsed.has_value()) << out_.str() << err_.str();
    return parsed ? *parsed : Json();
  }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
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
