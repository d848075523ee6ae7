#include "base/incidents.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn {
namespace {

std::uint64_t counted(const Incident& incident) {
  for (const IncidentCount& one : incident_counts()) {
    if (one.incident.kind == incident.kind && one.incident.definition == incident.definition &&
        one.incident.step == incident.step && one.incident.type == incident.type) {
      return one.count;
    }
  }
  return 0;
}

TEST(Incidents, EachIsALineOfTheLogAndIsCounted) {
  std::vector<std::string> lines;
  LogSettings settings;
  settings.format = LogFormat::json;
  settings.write = [&lines](std::string_view line) { lines.emplace_back(line); };
  configure_log(settings);
  const Incident incident{Incident::Kind::attempts_exhausted, "", "pay", "card.charge"};
  report_incident(incident, {{"run", "r-1"}});
  report_incident(incident, {{"run", "r-2"}});
  configure_log({});
  ASSERT_EQ(lines.size(), 2u);
  const auto line = parse_json(lines[0]);
  ASSERT_TRUE(line.has_value()) << lines[0];
  EXPECT_EQ((*line)["event"], Json("run.attempts_exhausted"));
  EXPECT_EQ((*line)["run"], Json("r-1"));
  EXPECT_EQ((*line)["type"], Json("card.charge"));
  EXPECT_EQ((*line)["step"], Json("pay"));
  EXPECT_EQ(counted(incident), 2u);
}

TEST(Incidents, TheNumberOfLabelsIsBounded) {
  LogSettings quiet;
  quiet.write = [](std::string_view) {};
  configure_log(quiet);
  for (std::size_t i = 0; i < 2 * incident_labels_max; ++i) {
    report_incident({Incident::Kind::lease_lost, "", "", "type-" + std::to_string(i)});
  }
  configure_log({});
  EXPECT_LE(incident_counts().size(), incident_labels_max + 6) << "one more of each kind";
  EXPECT_GE(counted({Incident::Kind::lease_lost, "other", "other", "other"}), incident_labels_max);
}

}  // namespace
}  // namespace cairn
