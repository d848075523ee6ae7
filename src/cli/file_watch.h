// Reports changed files while `cairn dev` runs. It uses inotify and never polls.
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

  // Watches files, and folders with their subfolders. Calls `changed` from its own thread with each file that was
  // written or moved there.
  static Result<std::unique_ptr<FileWatch>> start(const std::vector<std::string>& paths, Changed changed);
  ~FileWatch();

 private:
  FileWatch(int events, int stop, Changed changed) : events_(events), stop_(stop), changed_(std::move(changed)) {}
  void add_folder(const std::string& folder);
  void run();

  int events_;
  int stop_;  // a write ends the thread
  Changed changed_;
  std::map<int, std::string> folders_;
  std::vector<std::string> files_;  // only these, if a file was named instead of its folder
  std::vector<std::string> whole_;  // folders that were named
  std::jthread thread_;
};

}  // namespace cairn::cli
