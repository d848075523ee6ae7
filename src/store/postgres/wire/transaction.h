// How the functions of the PostgreSQL store run; see PostgresStore::read and PostgresStore::write.
#pragma once

#include "store/audit_scope.h"
#include "store/postgres/postgres_store.h"

namespace cairn {

template <class T>
Result<T> PostgresStore::read(const std::function<Result<T>(Connection&)>& body) {
  for (int attempt = 0;; ++attempt) {
    CAIRN_TRY(postgres::Pool::Lease lease, pool_.take(postgres::Use::read));
    Result<T> answer = body(*lease);
    if (!lease->error()) return answer;
    const bool again = (!lease->usable() && attempt < 3) || (lease->may_repeat() && attempt < 10);
    if (!again) return explain(*lease, *lease->error());
  }
}

template <class T>
Result<T> PostgresStore::write(const std::function<Result<T>(Connection&)>& body, std::string* state) {
  constexpr int attempts_max = 20;  // each retry means that the server asked for it, or went away before the commit
  if (auto refused = refusal()) return *refused;
  Error last;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    CAIRN_TRY(postgres::Pool::Lease lease, pool_.take(postgres::Use::write));
    if (auto known = introduce(lease.session()); !known) {
      last = known.error();
      if (lease->usable()) return last;
      continue;
    }
    lease->send(postgres::Sql::begin);
    Result<T> answer = body(*lease);
    PendingAuditRows pending_audit;  // last: the transaction that holds the end of the chain waits only for its commit
    if (answer && !lease->error()) append_audit_rows(*lease, pending_audit.rows());
    if (lease->error()) {
      last = *lease->error();
      if (state) *state = lease->state();
      if (lease->may_repeat() || !lease->usable()) continue;
      return explain(*lease, last);
    }
    if (!answer) return answer;
    const auto written = conclude(lease.session());
    if (state) *state = lease->state();
    if (!written) return explain(*lease, written.error());
    if (*written == Written::yes) {
      pending_audit.written();
      return answer;
    }
    last = {ErrorCode::unavailable, "PostgreSQL: the transaction was not committed"};
  }
  return last;
}

}  // namespace cairn
