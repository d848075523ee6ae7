#include "server/jwks_source.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/log.h"

namespace cairn::server {
namespace {

constexpr std::size_t file_bytes_max = 1u << 20;

bool is_url(const std::string& place) { return place.starts_with("https://"); }

std::int64_t change_time(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return 0;
  return about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::unavailable, path + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().size() > file_bytes_max) return Error{ErrorCode::limit, path + " is larger than 1 MiB"};
  return text.str();
}

}  // namespace

Result<KeySet> JwksSource::keys_for(std::string_view id, std::string_view algorithm) {
  // Whoever asks while another one fetches has to wait; a storm of unknown ids is one fetch a minute.
  const std::scoped_lock lock(mutex_);
  if (read_ && keys_.find(id, algorithm) != nullptr) return keys_;
  const auto now = std::chrono::steady_clock::now();
  const bool tried = last_try_ != std::chrono::steady_clock::time_point();
  const bool due =
      is_url(place_) ? !tried || now - last_try_ >= fetch_pause : !read_ || change_time(place_) != file_changed_;
  if (due) {
    last_try_ = now;
    if (const auto done = read_again(); !done) {
      log_warning("auth.keys_not_read", {{"place", place_}, {"message", done.error().message}});
      if (!read_) return done.error();
    }
  }
  return keys_;
}

Result<void> JwksSource::read_again() {
  const std::int64_t changed = is_url(place_) ? 0 : change_time(place_);
  CAIRN_TRY(const std::string text, is_url(place_) ? fetch_(place_) : read_file(place_));
  CAIRN_TRY(KeySet fresh, KeySet::parse(text));
  keys_ = std::move(fresh);
  file_changed_ = changed;
  read_ = true;
  log_info("auth.keys_read", {{"place", place_}, {"keys", static_cast<std::int64_t>(keys_.size())}});
  return {};
}

}  // namespace cairn::server
