// Tells when files change, while `cairn dev` runs. Linux tells us (inotify); nothing is looked at on a clock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

class FileWatch {
 public:
  using Changed = std::function<void(const std::string& path)>;

  // Files, and folders with all that is below them. `changed` is called from a thread of its own with each file that
  // was written or moved there.
  static Result<std::unique_ptr<FileWatch>> start(const std::vector<std::string>& paths, Changed changed);
  ~FileWatch();

 private:
  FileWatch(int events, int stop, Changed changed) : events_(events), stop_(stop), changed_(std::move(changed)) {}
  void add_folder(const std::string& folder);
  void run();

  int events_;
  int stop_;  // written to once, to end the thread
  Changed changed_;
  std::map<int, std::string> folders_;
  std::vector<std::string> files_;  // only these, where a file and not its folder was named
  std::vector<std::string> whole_;  // folders that were named
  std::jthread thread_;
};

}  // namespace cairn::cli
