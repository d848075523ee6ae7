// The scenario files of this folder, for each of its test programs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace cairn {

std::vector<std::string> scenario_files();
// Reads its scenarios; fails the test if the file cannot be read.
std::vector<Scenario> read_scenario_file(const std::string& file);
std::string name_of_file(const ::testing::TestParamInfo<std::string>& file);

}  // namespace cairn
