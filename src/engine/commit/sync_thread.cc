#include "engine/commit/sync_thread.h"

namespace cairn {

void SyncThread::run() {
  while (auto batch = unsynced_.pop()) {
    store_.sync();
    progress_.synced();
    backlog_.synced();
    answers_.give(std::move(*batch));
  }
}

void SyncThread::stop() {
  unsynced_.close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
