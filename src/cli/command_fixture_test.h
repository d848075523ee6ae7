// Commands in tests, called as a person types them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "cli/commands.h"

namespace cairn::cli {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
  Json json() const {
    auto value = parse_json(out);
    return value ? *value : Json("not JSON: " + out);
  }
};

inline Outcome run_command(RunFunction& command, const std::vector<std::string>& args, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = command(args, in, out, err);
  return {code, out.str(), err.str()};
}

// Commands on one local store, in a folder that ends with the test.
class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreTest() : folder_(testing::TempDir() + "cairn_cli_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~LocalStoreTest() override { std::filesystem::remove_all(folder_); }

  int run(std::vector<std::string> args) {
    args.insert(args.end(), {"--store", "sqlite:" + folder_ + "/store.db"});
    std::istringstream in;
    out_.str("");
    err_.str("");
    return run_cairn(args, in, out_, err_);
  }
  // What the last command printed.
  Json json() {
    auto parsed = parse_json(out_.str());
    EXPECT_TRUE(parsed.has_value()) << out_.str() << err_.str();
    return parsed ? *parsed : Json();
  }

  const std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace cairn::cli
