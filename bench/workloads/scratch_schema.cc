#include "workloads/scratch_schema.h"

#include <utility>

#include "store/postgres/wire/url.h"
#include "workloads/postgres_rows.h"

namespace cairn::bench {

ScratchSchema::ScratchSchema(std::string name, std::string url, std::string conninfo)
    : name_(std::move(name)), url_(std::move(url)), conninfo_(std::move(conninfo)) {}

ScratchSchema::ScratchSchema(ScratchSchema&& other) noexcept
    : name_(std::move(other.name_)), url_(std::move(other.url_)), conninfo_(std::exchange(other.conninfo_, {})) {}

ScratchSchema::~ScratchSchema() {
  if (conninfo_.empty()) return;
  [[maybe_unused]] const auto removed = remove();  // an unreachable server keeps it
}

Result<ScratchSchema> ScratchSchema::make(const std::string& url, const std::string& suffix) {
  CAIRN_TRY(const postgres::Target target, postgres::read_url(url));
  const std::string name = target.schema + suffix;
  const std::string own = url + (url.find('?') == std::string::npos ? "?schema=" : "&schema=") + name;
  ScratchSchema scratch(name, own, target.conninfo);
  CAIRN_TRY_VOID(scratch.remove());
  return scratch;
}

Result<void> ScratchSchema::remove() const {
  CAIRN_TRY(const PostgresHandle connection, connect_to(conninfo_));
  return execute(connection.get(), "DROP SCHEMA IF EXISTS " + name_ + " CASCADE");
}

}  // namespace cairn::bench
