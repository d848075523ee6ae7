#include "store/memory/memory_store.h"
#include "store/projection.h"

namespace cairn {

Result<std::optional<std::uint64_t>> MemoryStore::put_document(const DocumentRow& given,
                                                               const std::optional<OutboxEvent>& event) {
  std::unique_lock lock(mutex_);
  const auto found = documents_.find({given.kind, given.id});
  if ((found == documents_.end() ? 0 : found->second.version) != given.version) return std::optional<std::uint64_t>();
  DocumentRow row = given;
  ++row.version;
  row.changed_at = whole_ms(now());
  const std::uint64_t version = row.version;
  documents_[{given.kind, given.id}] = std::move(row);
  Wakeup wakeup;
  if (event) write_event({}, {*event, !events_.dispatched}, wakeup);
  lock.unlock();
  if (wakeup.outbox) tell(wakeup);
  return std::optional(version);
}

Result<std::optional<DocumentRow>> MemoryStore::find_document(const std::string& kind, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = documents_.find({kind, id});
  return found == documents_.end() ? std::optional<DocumentRow>() : std::optional(found->second);
}

Result<Page<DocumentRow>> MemoryStore::list_documents(const DocumentFilter& filter, const PageRequest& request) {
  const std::lock_guard lock(mutex_);
  Page<DocumentRow> page;
  for (auto at = documents_.upper_bound({filter.kind, request.cursor});
       at != documents_.end() && at->first.first == filter.kind; ++at) {
    if (filter.owner && at->second.owner != *filter.owner) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = page.items.back().id;
      break;
    }
    page.items.push_back(at->second);
  }
  return page;
}

Result<bool> MemoryStore::remove_document(const std::string& kind, const std::string& id) {
  const std::lock_guard lock(mutex_);
  return documents_.erase({kind, id}) > 0;
}

}  // namespace cairn
