// A local store on the command line: `--store URL` or CAIRN_STORE, opened for one command.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "api/documents.h"
#include "base/clock.h"
#include "cli/arguments.h"
#include "engine/core.h"
#include "store/open.h"

namespace cairn::cli {

// Flags of every command on a store.
inline constexpr Flag store_flag{"--store", "URL", "the store: sqlite:PATH (default: $CAIRN_STORE)"};
inline constexpr Flag json_flag{"--json", "", "print one JSON document"};

class StoreSession {
 public:
  enum class Use { read, change };

  // If the store cannot be opened, prints the error and returns the exit code. With `read`, a store that another
  // process owns can be read.
  static std::variant<std::unique_ptr<StoreSession>, int> open(std::string_view command, const Arguments& arguments,
                                                               Use use, std::ostream& err);

  Store& store() { return *store_; }
  EngineCore& core() { return *core_; }  // only with `change`

 private:
  SystemClock clock_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};

// Prints "cairn show: MESSAGE"; returns the exit code of the error.
int fail(std::string_view command, const Error& error, std::ostream& err);
// A usage error: exit code 2.
int wrong_call(std::string_view command, const std::string& message, std::ostream& err);

// A duration for display: 3d, 2h, 5m, 12s.
std::string ago(Timestamp then, Timestamp now);

}  // namespace cairn::cli
