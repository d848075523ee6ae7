// Parts of a URL, one a line (user, password, host, query): what is displayed of a setting or a store's URL never holds
// the password.
#include "config/configuration.h"
#include "input.h"
#include "store/postgres/wire/url.h"

namespace {

// Characters with a meaning in this part of a URL are percent-encoded there.
std::string part(std::string_view text, std::string_view reserved) {
  std::string out;
  for (const char c : text) {
    if (c > 0x20 && c < 0x7f && reserved.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::string user = part(fuzzing::take_line(input), ":/?#@[]&=");
  const std::string password = "s3cr3t" + part(fuzzing::take_line(input), "/?#@[]&=");
  const std::string host = part(fuzzing::take_line(input), "?#@&=");
  const std::string query = part(fuzzing::take_line(input), "");
  if ((user + "\n" + host + "\n" + query).find("s3cr3t") != std::string::npos) return;  // not the password
  const config::Spec spec{"store", config::Kind::text, "", ""};
  for (const std::string& url : {"postgres://" + user + ":" + password + "@" + host + "?" + query,
                                 "redis://" + user + ":" + password + "/?&=#" + password + "@" + host,
                                 "postgres://" + host + "?password=" + password + "&" + query,
                                 "postgres://" + host + "?" + query + "&sslpassword=" + password}) {
    CAIRN_ASSERT(config::shown(spec, {url, "default"}).find("s3cr3t") == std::string::npos);
    if (!url.starts_with("postgres")) continue;
    const auto target = postgres::read_url(url);
    CAIRN_ASSERT(target ? target->shown.find("s3cr3t") == std::string::npos
                        : target.error().message.find("s3cr3t") == std::string::npos);
  }
  const std::string hints = "postgres://h?hints=redis%3A%2F%2F" + user + ":" + password + "%40h";
  CAIRN_ASSERT(config::shown(spec, {hints, "default"}).find("s3cr3t") == std::string::npos);
  // Text without a password stays as it is.
  const std::string plain = "postgres://" + host + "/db";
  if (host.find(':') == std::string::npos) CAIRN_ASSERT(config::shown(spec, {plain, "default"}) == plain);
}
