// A connection to the API: a server over HTTP (--server URL, CAIRN_SERVER), or a local store (--store URL, CAIRN_STORE)
// through the same routes in this process. A command is written once and works with both.
#pragma once

#include <functional>
#include <map>
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
inline constexpr Flag local_store_flag{"--store", "URL", "a local store instead: sqlite:PATH (default: $CAIRN_STORE)"};
inline constexpr Flag as_json_flag{"--json", "", "print one JSON document"};
// Appends the flags of every command that calls the API.
std::vector<Flag> with_api_flags(std::vector<Flag> own);

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // encode user text with `path_part`
  std::vector<std::pair<std::string, std::string>> query = {};
  Json body = {};                 // null: no body
  std::string text = {};          // replaces `body`; has the type `content_type`
  std::string content_type = {};  // empty: application/json
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct ApiAnswer {
  int status = 0;
  Json body;         // null if it is not JSON
  std::string text;  // unchanged
  bool ok() const { return status >= 200 && status < 300; }
};

class ApiSession {
 public:
  enum class Use { read, change };

  // If no server or store can be opened, prints the error and returns the exit code. With `read`, a store that another
  // process owns can be read.
  static std::variant<std::unique_ptr<ApiSession>, int> open(std::string_view command, const Arguments& arguments,
                                                             Use use, std::ostream& err);
  virtual ~ApiSession() = default;

  // ErrorCode::unavailable if the server cannot be reached. A refusal is an answer. The id of an instance, task, run or
  // key in the path may be a unique prefix of at least 4 characters. A change completes only prefixes of generated ids.
  Result<ApiAnswer> call(ApiRequest request);
  // The same, but prints every failure and returns it as the exit code.
  std::variant<ApiAnswer, int> ask(const ApiRequest& request, std::ostream& err);
  // Waits for the next change of an instance that was `seen`. It may return before the instance has changed.
  std::variant<ApiAnswer, int> next_change(const std::string& place, const Json& seen, std::ostream& err);
  // Passes every item of a list to `take`, page by page, at most `most`; stops if `take` returns false. Empty on
  // success. `cursor` is where the list begins, and then where it continues: empty if it is complete.
  std::optional<int> each(ApiRequest request, std::size_t most, const std::function<bool(const Json&)>& take,
                          std::ostream& err, std::string* cursor = nullptr);

  // The flags that select this session, for suggested commands: " --server URL".
  const std::string& flags() const { return flags_; }
  bool remote() const { return remote_; }
  const std::string& command() const { return command_; }

 protected:
  // One request as it is.
  virtual Result<ApiAnswer> send(const ApiRequest& request) = 0;

  std::string command_;
  std::string flags_;
  std::string user_;
  bool remote_ = false;

 private:
  // The ids of the list that begin with `prefix`, up to a few.
  struct FoundIds {
    std::vector<std::string> ids;
    bool all = false;  // the whole list was read
  };
  Result<FoundIds> ids_with_prefix(const std::string& list, const std::string& prefix);

  std::map<std::string, std::string> full_ids_;  // of prefixes that were looked up
};

// What a refusal means for the shell (rule R3).
int exit_code_of_status(int status);
// Prints the refusal: its detail, and each error with its pointer.
int refuse(std::string_view command, const ApiAnswer& answer, std::ostream& err);
// Percent-encodes the text, so that it stays one segment.
std::string path_part(std::string_view text);

}  // namespace cairn::cli
