// Every scenario on every store, through the real engine: once as it comes, and once with
// everything in memory thrown away after each commit and the store opened again. The second is repeated with all but
// small values apart from the snapshots. All of them must pass,
// commit the same bytes for each instance as the rehearsal of `cairn test` does, and leave a store in which
// every invariant holds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/log.h"
#include "scenario_files.h"
#include "store/memory/memory_store.h"
#include "store/open.h"
#include "store_stage.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

class Stores : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // A cut store is reported as what it looks like: one that cannot be written.
    configure_log({LogLevel::error, LogFormat::text, [](std::string_view) {}});
    const std::string folder = std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir();
    folder_ = folder + "cairn_scenarios_" + std::to_string(::getpid());
  }
  void TearDown() override {
    configure_log({});
    std::filesystem::remove_all(folder_);
  }

  OpenStore memory(std::size_t piece_bytes_min = 0) {
    // It is what a file is to the others: it outlives the process.
    auto kept = std::make_shared<std::shared_ptr<Store>>();
    return [kept, piece_bytes_min](Clock& clock) {
      if (!*kept) {
        *kept = std::make_shared<MemoryStore>(clock);
        (*kept)->keep_apart(piece_bytes_min);
      }
      return *kept;
    };
  }
  OpenStore sqlite() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    return [path = folder_ + "/store.db"](Clock& clock) {
      auto opened = open_store("sqlite:" + path, clock);
      CAIRN_ASSERT(opened.has_value());
      return std::shared_ptr<Store>(std::move(*opened));
    };
  }

  CommittedBytes play_on(const Scenario& scenario, const char* where, OpenStore open, bool restarts) {
    const std::string label = std::string(where) + (restarts ? " with restarts: " : ": ");
    StoreStage stage(scenario, std::move(open), restarts);
    for (const std::string& problem : play(scenario, stage)) ADD_FAILURE() << label << problem;
    const auto verified = verify_store(stage.store());
    EXPECT_TRUE(verified.has_value()) << (verified ? "" : verified.error().message);
    if (verified) {
      for (const Finding& finding : verified->findings) {
        ADD_FAILURE() << label << scenario.name << ": " << finding.invariant << ": " << finding.subject << ": "
                      << finding.message;
      }
    }
    signalled_child_ = stage.signalled_child();
    return stage.bytes();
  }

  std::string folder_;
  bool signalled_child_ = false;
};

// The first commit in which they differ; a whole history would say too much.
std::string difference(const CommittedBytes& expected, const CommittedBytes& actual) {
  for (const auto& [id, commits] : expected) {
    const auto found = actual.find(id);
    if (found == actual.end()) return "instance " + id + " is missing";
    for (std::size_t i = 0; i < std::max(commits.size(), found->second.size()); ++i) {
      const std::string one = i < commits.size() ? commits[i] : "no commit";
      const std::string other = i < found->second.size() ? found->second[i] : "no commit";
      if (one != other) return "version " + std::to_string(i + 1) + ":\n  " + one + "\n  " + other;
    }
  }
  return "";
}

// With the programs as a store gives them back: they no longer know their places in a file.
Scenario as_stored(Scenario scenario) {
  const auto stored = [](const Program& program) {
    auto compiled = compile_program(program.canonical);
    CAIRN_ASSERT(compiled.has_value());
    return *compiled;
  };
  auto known = std::make_shared<DefinitionIndex>();
  for (const std::string& name : scenario.known->names()) {
    for (const std::string& version : scenario.known->versions(name)) {
      known->add(stored(*scenario.known->find(name, version)));
    }
  }
  scenario.known = std::move(known);
  scenario.program = stored(*scenario.program);
  return scenario;
}

CommittedBytes by_instance(const std::vector<std::string>& commits) {
  CommittedBytes bytes;
  for (const std::string& commit : commits) {
    const auto snapshot = decode_snapshot(commit);
    EXPECT_TRUE(snapshot.has_value());
    if (snapshot) bytes[snapshot->instance.value].push_back(commit);
  }
  return bytes;
}

TEST_P(Stores, PassWithAndWithoutRestarts) {
  for (const Scenario& scenario : read_scenario_file(GetParam())) {
    const CommittedBytes first = play_on(scenario, "memory", memory(), false);
    if (!signalled_child_) {
      EXPECT_EQ(difference(by_instance(run_scenario(as_stored(scenario), false).commits), first), "") << scenario.name;
    }
    EXPECT_EQ(difference(first, play_on(scenario, "memory", memory(), true)), "") << scenario.name;
    EXPECT_EQ(difference(first, play_on(scenario, "sqlite", sqlite(), false)), "") << scenario.name;
    EXPECT_EQ(difference(first, play_on(scenario, "sqlite", sqlite(), true)), "") << scenario.name;
    // With nearly every value apart from its snapshot.
    Scenario apart = scenario;
    apart.limits.piece_bytes_min = 100;
    EXPECT_EQ(difference(first, play_on(apart, "memory, values apart,", memory(100), true)), "") << scenario.name;
    EXPECT_EQ(difference(first, play_on(apart, "sqlite, values apart,", sqlite(), true)), "") << scenario.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Stores, ::testing::ValuesIn(scenario_files()), name_of_file);

}  // namespace
}  // namespace cairn
