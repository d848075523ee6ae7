#include "store/sqlite/page_cache.h"

#include <sqlite3.h>

#include <algorithm>
#include <vector>

namespace cairn::sqlite {

namespace {

sqlite3_pcache_methods2 sqlite_pages;

struct PageCache {
  sqlite3_pcache* pages;
  unsigned highest;              // the highest requested number
  std::vector<unsigned> beyond;  // higher numbers that pages got by moving
};

PageCache& page_cache(sqlite3_pcache* cache) { return *reinterpret_cast<PageCache*>(cache); }

sqlite3_pcache* create(int page_bytes, int extra_bytes, int purgeable) {
  sqlite3_pcache* const pages = sqlite_pages.xCreate(page_bytes, extra_bytes, purgeable);
  if (pages == nullptr) return nullptr;
  return reinterpret_cast<sqlite3_pcache*>(new PageCache{pages, 0, {}});
}
void set_size(sqlite3_pcache* cache, int pages) { sqlite_pages.xCachesize(page_cache(cache).pages, pages); }
int count(sqlite3_pcache* cache) { return sqlite_pages.xPagecount(page_cache(cache).pages); }

sqlite3_pcache_page* fetch(sqlite3_pcache* cache, unsigned number, int create_flag) {
  PageCache& own = page_cache(cache);
  if (create_flag != 0 && number > own.highest) own.highest = number;
  return sqlite_pages.xFetch(own.pages, number, create_flag);
}
void unpin(sqlite3_pcache* cache, sqlite3_pcache_page* page, int discard) {
  sqlite_pages.xUnpin(page_cache(cache).pages, page, discard);
}

void rekey(sqlite3_pcache* cache, sqlite3_pcache_page* page, unsigned from, unsigned to) {
  PageCache& own = page_cache(cache);
  std::erase(own.beyond, from);
  if (to > own.highest) own.beyond.push_back(to);
  sqlite_pages.xRekey(own.pages, page, from, to);
}

void truncate(sqlite3_pcache* cache, unsigned first) {
  PageCache& own = page_cache(cache);
  if (first > own.highest && own.beyond.empty()) return;
  sqlite_pages.xTruncate(own.pages, first);
  own.highest = first == 0 ? 0 : std::min(own.highest, first - 1);
  own.beyond.clear();
}

void destroy(sqlite3_pcache* cache) {
  sqlite_pages.xDestroy(page_cache(cache).pages);
  delete &page_cache(cache);
}
void shrink(sqlite3_pcache* cache) { sqlite_pages.xShrink(page_cache(cache).pages); }

}  // namespace

void install_page_cache() {
  static const bool once = [] {
    if (sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &sqlite_pages) != SQLITE_OK) return false;
    sqlite3_pcache_methods2 methods = sqlite_pages;
    methods.xCreate = create;
    methods.xCachesize = set_size;
    methods.xPagecount = count;
    methods.xFetch = fetch;
    methods.xUnpin = unpin;
    methods.xRekey = rekey;
    methods.xTruncate = truncate;
    methods.xDestroy = destroy;
    methods.xShrink = shrink;
    return sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods) == SQLITE_OK;
  }();
  static_cast<void>(once);
}

}  // namespace cairn::sqlite
