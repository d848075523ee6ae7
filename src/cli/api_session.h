// The API, wherever it is: a server over HTTP (--server URL, CAIRN_SERVER), or a local store (--store URL, CAIRN_STORE)
// through the same table of routes in this process. A command is written once and works on both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "cli/arguments.h"

namespace cairn::cli {

inline constexpr Flag server_flag{"--server", "URL", "the server (default: $CAIRN_SERVER)"};
inline constexpr Flag local_store_flag{"--store", "URL", "or a local store: sqlite:PATH (default: $CAIRN_STORE)"};
inline constexpr Flag as_json_flag{"--json", "", "one JSON document"};
// What every command that asks the API takes, after its own flags.
std::vector<Flag> with_api_flags(std::vector<Flag> own);

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // parts that people gave are encoded with `path_part`
  std::vector<std::pair<std::string, std::string>> query = {};
  Json body = {};                 // null: none
  std::string text = {};          // instead of `body`, with its `content_type`
  std::string content_type = {};  // empty: application/json
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct ApiAnswer {
  int status = 0;
  Json body;         // null when it is not JSON
  std::string text;  // as it came
  bool ok() const { return status >= 200 && status < 300; }
};

class ApiSession {
 public:
  enum class Use { read, change };

  // Prints what is wrong and gives the exit code when there is nobody to ask. With `read`, a store that another
  // process owns can be looked at.
  static std::variant<std::unique_ptr<ApiSession>, int> open(std::string_view command, const Arguments& arguments,
                                                             Use use, std::ostream& err);
  virtual ~ApiSession() = default;

  // ErrorCode::unavailable when the server cannot be reached. A refusal is an answer.
  virtual Result<ApiAnswer> call(const ApiRequest& request) = 0;
  // The same; anything but success is printed and becomes the exit code.
  std::variant<ApiAnswer, int> ask(const ApiRequest& request, std::ostream& err);
  // An instance that was `seen` as it is next: as soon as it has changed, and at times sooner.
  std::variant<ApiAnswer, int> next_change(const std::string& place, const Json& seen, std::ostream& err);
  // Every item of a list, page by page, at most `most`; false from `take` ends it. Nothing: all went well.
  std::optional<int> each(ApiRequest request, std::size_t most, const std::function<bool(const Json&)>& take,
                          std::ostream& err);

  // How this session was named, to be put behind a command that is proposed: " --server URL".
  const std::string& flags() const { return flags_; }
  bool remote() const { return remote_; }

 protected:
  std::string command_;
  std::string flags_;
  std::string user_;
  bool remote_ = false;
};

// What a refusal means for the shell (rule R3).
int exit_code_of_status(int status);
// Prints the refusal: its detail, and each error with its pointer.
int refuse(std::string_view command, const ApiAnswer& answer, std::ostream& err);
// Percent-encoded, so that nothing in it can be another part.
std::string path_part(std::string_view text);

}  // namespace cairn::cli
