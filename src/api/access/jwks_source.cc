#include "api/access/jwks_source.h"

#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <sstream>

#include "base/log.h"

namespace cairn::api {
namespace {

constexpr std::size_t jwks_bytes_max = 1u << 20;
// A failed fetch is repeated after this pause, sooner than the regular refresh.
constexpr std::chrono::milliseconds retry_pause{30'000};

bool is_url(const std::string& place) { return place.starts_with("https://"); }

struct FileState {
  std::string text;
  // File times are coarse: a file changed just now may change again with the same time.
  bool stable = true;
};
FileState state_of_file(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return {};
  std::ostringstream state;
  state << about.st_dev << ' ' << about.st_ino << ' ' << about.st_size << ' ' << about.st_mtim.tv_sec << ' '
        << about.st_mtim.tv_nsec;
  return {state.str(), std::time(nullptr) - about.st_mtim.tv_sec > 2};
}

Result<std::string> read_key_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::unavailable, path + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().size() > jwks_bytes_max) return Error{ErrorCode::limit, path + " is larger than 1 MiB"};
  return text.str();
}

Result<std::shared_ptr<const KeySet>> parsed(const Result<std::string>& text) {
  if (!text) return text.error();
  CAIRN_TRY(KeySet keys, KeySet::parse(*text));
  return std::shared_ptr<const KeySet>(std::make_shared<KeySet>(std::move(keys)));
}

void log_keys(const std::string& place, const Result<std::shared_ptr<const KeySet>>& read) {
  if (read) {
    log_info("auth.keys_read", {{"place", place}, {"keys", static_cast<std::int64_t>((*read)->size())}});
  } else {
    log_warning("auth.keys_not_read", {{"place", place}, {"message", read.error().message}});
  }
}

}  // namespace

JwksSource::JwksSource(std::string place, FetchText fetch, Pace pace)
    : place_(std::move(place)), fetch_(std::move(fetch)), pace_(pace) {
  if (!is_url(place_)) return;
  asked_ = true;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

JwksSource::~JwksSource() = default;

std::shared_ptr<const KeySet> JwksSource::current() {
  const std::scoped_lock lock(mutex_);
  if (!is_url(place_)) read_changed_file();
  return keys_;
}

Result<std::shared_ptr<const KeySet>> JwksSource::keys_for(std::string_view id, std::string_view algorithm) {
  const std::scoped_lock lock(mutex_);
  if (!is_url(place_)) {
    read_changed_file();
  } else if (!keys_ || keys_->find(id, algorithm) == nullptr) {
    if (ask_for_fetch(std::chrono::steady_clock::now())) {
      return Error{ErrorCode::unavailable, "the issuer's keys are being fetched; try again in a moment"};
    }
  }
  if (!keys_) return Error{ErrorCode::unavailable, "the issuer's keys cannot be read: " + why_not_};
  return keys_;
}

void JwksSource::fetch_soon() {
  const std::scoped_lock lock(mutex_);
  if (is_url(place_)) ask_for_fetch(std::chrono::steady_clock::now());
}

bool JwksSource::ask_for_fetch(Instant now) {
  if (!fetching_ && !asked_ && now - last_fetch_ >= pace_.early_pause) {
    asked_ = true;
    wanted_.notify_all();
  }
  return fetching_ || asked_;
}

void JwksSource::read_changed_file() {
  const FileState state = state_of_file(place_);
  if (state.text == file_state_ && file_stable_) return;
  auto read = parsed(read_key_file(place_));
  if (state.text != file_state_) log_keys(place_, read);
  file_state_ = state.text;
  file_stable_ = state.stable;
  if (read) {
    keys_ = std::move(*read);
  } else {
    why_not_ = read.error().message;
  }
}

void JwksSource::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  auto pause = pace_.refresh;
  while (!stop.stop_requested()) {
    wanted_.wait_for(lock, stop, pause, [this] { return asked_; });
    if (stop.stop_requested()) return;
    asked_ = false;
    fetching_ = true;
    lock.unlock();
    auto read = parsed(fetch_(place_, stop));
    if (stop.stop_requested()) return;
    log_keys(place_, read);
    lock.lock();
    fetching_ = false;
    last_fetch_ = std::chrono::steady_clock::now();
    pause = read ? pace_.refresh : std::min(pace_.refresh, retry_pause);
    if (read) {
      keys_ = std::move(*read);
    } else {
      why_not_ = read.error().message;
    }
  }
}

}  // namespace cairn::api
