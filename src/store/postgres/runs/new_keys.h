// The idempotency keys of changes to runs, as one statement. A key that is stored already stays as it is.
#pragma once

#include <string>

#include "base/json.h"
#include "store/postgres/wire/transaction.h"
#include "store/unit.h"

namespace cairn::postgres {

class NewKeys {
 public:
  void add(const IdempotencyKey& key) {
    scopes_.add(key.scope);
    names_.add(key.key);
    hashes_.add(key.request_hash);
    answers_.add(write_json(key.answer));
  }
  void send(Connection& db, Timestamp at) const {
    if (!scopes_.empty()) db.send(Sql::claim_keys, scopes_, names_, hashes_, answers_, at);
  }

 private:
  Column<std::string> scopes_, names_, hashes_, answers_;
};

}  // namespace cairn::postgres
