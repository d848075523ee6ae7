// A reading connection borrowed from the store's pool. The destructor returns it.
#pragma once

#include "store/sqlite/sqlite_store.h"

namespace cairn {

class SqliteStore::Reader {
 public:
  Reader(SqliteStore& store, std::unique_ptr<sqlite::Connection> connection)
      : store_(store), connection_(std::move(connection)) {}
  Reader(Reader&&) = default;
  ~Reader();

  sqlite::Connection& operator*() { return *connection_; }
  sqlite::Connection* operator->() { return connection_.get(); }

  // The value, unless a statement failed.
  template <class T>
  Result<T> give(T value) {
    if (connection_->error()) return *connection_->error();
    return value;
  }

 private:
  SqliteStore& store_;
  std::unique_ptr<sqlite::Connection> connection_;
};

}  // namespace cairn
