// Serves the web console: its files, and its one page for every address that a browser opens. The page asks the API for
// all data, so its files are the same for every caller and need no credential.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/http_types.h"

namespace cairn::api {

// Safe to call from several threads.
class Console {
 public:
  // `base_path` is the path below which browsers see the server: empty, or like /work/flow.
  explicit Console(std::string base_path);

  // The answer to a request that no route takes. Empty: the console does not have it either.
  std::optional<Response> answer(const Request& request) const;

  // Removes the base path. Paths that do not begin with it stay as they are, for proxies that remove it themselves.
  void strip_base_path(std::string& path) const;

 private:
  Response page(const Request& request) const;

  const std::string base_path_;
  std::string page_gzip_;  // the page, with addresses below the base path
  std::string page_etag_;
};

}  // namespace cairn::api
