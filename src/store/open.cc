#include "store/open.h"

#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {

Result<std::unique_ptr<Store>> open_store(const std::string& url, Clock& clock, StoreMode mode) {
  if (url == "memory:") return std::unique_ptr<Store>(std::make_unique<MemoryStore>(clock));
  constexpr std::string_view sqlite = "sqlite:";
  if (url.starts_with(sqlite)) {
    CAIRN_TRY(auto store,
              SqliteStore::open(url.substr(sqlite.size()), clock,
                                mode == StoreMode::own ? SqliteStore::Mode::own : SqliteStore::Mode::read_only));
    return std::unique_ptr<Store>(std::move(store));
  }
  return Error{ErrorCode::invalid, "'" + url + "' is not a store URL; write sqlite:PATH or memory:"};
}

}  // namespace cairn
