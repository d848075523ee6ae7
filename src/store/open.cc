#include "store/open.h"

#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {

Result<std::unique_ptr<Store>> open_store(const std::string& given, Clock& clock, StoreMode mode) {
  std::string url = given;
  constexpr std::string_view without_run_events = "?run_events=off";
  const bool run_events = !url.ends_with(without_run_events);
  if (!run_events && !url.starts_with("postgres")) url.resize(url.size() - without_run_events.size());
  if (url == "memory:") return std::unique_ptr<Store>(std::make_unique<MemoryStore>(clock, run_events));
  constexpr std::string_view sqlite = "sqlite:";
  if (url.starts_with(sqlite)) {
    CAIRN_TRY(
        auto store,
        SqliteStore::open(url.substr(sqlite.size()), clock,
                          mode == StoreMode::own ? SqliteStore::Mode::own : SqliteStore::Mode::read_only, run_events));
    return std::unique_ptr<Store>(std::move(store));
  }
  if (postgres::is_postgres_url(url)) {
    CAIRN_TRY(auto store,
              PostgresStore::open(url, clock,
                                  mode == StoreMode::own ? PostgresStore::Mode::own : PostgresStore::Mode::read_only));
    return std::unique_ptr<Store>(std::move(store));
  }
  return Error{ErrorCode::invalid, "'" + url + "' is not a store URL; write sqlite:PATH, postgres://… or memory:"};
}

}  // namespace cairn
