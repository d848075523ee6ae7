#include "cli/file_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace cairn::cli {

namespace fs = std::filesystem;

namespace {

// "flows-old" begins with "flows" but is not below it.
bool is_below(const std::string& path, const std::string& folder) {
  if (!path.starts_with(folder)) return false;
  return folder.ends_with('/') || path.size() == folder.size() || path[folder.size()] == '/';
}

}  // namespace

Result<std::unique_ptr<FileWatch>> FileWatch::start(const std::vector<std::string>& paths, Changed changed) {
  const int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (events < 0) return Error{ErrorCode::unavailable, std::string("files cannot be watched: ") + std::strerror(errno)};
  const int stop = eventfd(0, EFD_CLOEXEC);
  if (stop < 0) {
    close(events);
    return Error{ErrorCode::unavailable, std::string("files cannot be watched: ") + std::strerror(errno)};
  }
  std::unique_ptr<FileWatch> watch(new FileWatch(events, stop, std::move(changed)));
  for (const std::string& path : paths) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
      watch->whole_.push_back(path);
      watch->add_folder(path);
    } else {
      // Editors write a new file and rename it, so the folder must be watched.
      const fs::path folder = fs::path(path).parent_path();
      watch->files_.push_back((folder.empty() ? fs::path(".") : folder) / fs::path(path).filename());
      watch->add_folder(folder.empty() ? "." : folder.string());
    }
  }
  watch->thread_ = std::jthread([running = watch.get()] { running->run(); });
  return watch;
}

FileWatch::~FileWatch() {
  const std::uint64_t one = 1;
  if (write(stop_, &one, sizeof one) == sizeof one && thread_.joinable()) thread_.join();
  close(events_);
  close(stop_);
}

void FileWatch::add_folder(const std::string& folder) {
  const int number = inotify_add_watch(events_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
  if (number < 0) return;
  folders_[number] = folder;
  const bool below =
      std::any_of(whole_.begin(), whole_.end(), [&](const std::string& root) { return is_below(folder, root); });
  if (!below) return;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed) && !entry.path().filename().string().starts_with('.'))
      add_folder(entry.path().string());
  }
}

void FileWatch::run() {
  alignas(inotify_event) char buffer[16384];
  while (true) {
    pollfd wanted[2] = {{events_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (poll(wanted, 2, -1) < 0 && errno != EINTR) return;
    if (wanted[1].revents != 0) return;
    const ssize_t size = read(events_, buffer, sizeof buffer);
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end() || event->len == 0) continue;
      const std::string path = (fs::path(folder->second) / event->name).string();
      if (event->mask & IN_ISDIR) {
        add_folder(path);
        continue;
      }
      if (!(event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO))) continue;
      const bool named = std::find(files_.begin(), files_.end(), path) != files_.end();
      const bool inside =
          std::any_of(whole_.begin(), whole_.end(), [&](const std::string& root) { return is_below(path, root); });
      if (named || inside) changed_(path);
    }
  }
}

}  // namespace cairn::cli
