// A disk in memory under the real SQLite. It tracks which writes were synced. On a power loss each unsynced write is
// lost, torn at sectors, zeroed or kept, independently. Syncs and writes can fail.
//
// Only one can be mounted: it is SQLite's default file system meanwhile.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dice.h"
#include "plan.h"

namespace cairn::sim {

class Disk {
 public:
  Disk(std::uint64_t seed, Clock& clock) : dice_(seed), clock_(clock) {}
  ~Disk();

  // `strikes` decides whether a fault occurs. `power_cut` is called in the middle of a write or sync and may not
  // return.
  void mount(std::function<bool(Fault)> strikes, std::function<void()> power_cut);
  // Forgets all open files and their locks; with `power_loss` also unsynced data.
  void crash(bool power_loss);

  std::uint64_t syncs() const { return syncs_; }

 private:
  friend struct DiskCalls;

  struct Pending {
    std::int64_t offset = 0;
    std::vector<std::uint8_t> bytes;
    bool truncate = false;  // to `offset`
  };
  static constexpr int shm_locks = 8;
  struct File {
    std::vector<std::uint8_t> seen;     // as readers see it
    std::vector<std::uint8_t> durable;  // on the disk
    std::vector<Pending> pending;
    bool synced = false;  // at least once: its name is durable too
    int shared = 0;
    void* reserved = nullptr;   // the handle that holds it
    void* exclusive = nullptr;  // pending or exclusive
    std::vector<std::unique_ptr<std::uint8_t[]>> shm;
    std::array<int, shm_locks> shm_shared{};
    std::array<void*, shm_locks> shm_exclusive{};
  };

  static void apply(std::vector<std::uint8_t>& to, const Pending& change);
  void lose_power(File& file);

  Dice dice_;
  Clock& clock_;
  std::function<bool(Fault)> strikes_;
  std::function<void()> power_cut_;
  std::map<std::string, std::shared_ptr<File>> files_;  // shared with open handles
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::uint64_t syncs_ = 0;
};

}  // namespace cairn::sim
