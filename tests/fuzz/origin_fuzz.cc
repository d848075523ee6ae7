// A request's head: without authentication only this machine's names are answered, and a page of another site cannot
// change anything.
#include "api/access/origin.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::api;
  Request request;
  request.method = cairn::fuzzing::take_byte(input) % 2 == 0 ? "POST" : "GET";
  request.headers = cairn::fuzzing::take_headers(input);
  const std::vector<std::string> origins{"https://console.example"};
  const std::string host(request.header("host"));
  const std::string origin(request.header("origin"));
  if (!foreign(request, origins, false)) {
    std::string name = host.starts_with('[') ? host.substr(0, host.find(']')) : host.substr(0, host.find(':'));
    const bool dotted = name.find_first_not_of("0123456789.") == std::string::npos && name.starts_with("127.");
    CAIRN_ASSERT(name == "localhost" || name.ends_with(".localhost") || name == "[::1" || dotted);
  }
  if (foreign(request, origins, true) || request.method == "GET" || origin.empty()) return;
  CAIRN_ASSERT(origin == origins[0] || origin.ends_with("://" + host));
}
