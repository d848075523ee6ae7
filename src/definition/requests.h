// The request of a call: the bodies of `http`, `graphql` and `worker`.
#pragma once

#include "definition/fields.h"

namespace cairn {

extern const KeyTable http_table;
extern const KeyTable graphql_table;
extern const KeyTable worker_table;

// Each reads the request at `at` into `step` and writes its canonical form into `call`.
void read_http(Fields& call, const Cursor& at, CallStep& step);
void read_graphql(Fields& call, const Cursor& at, CallStep& step);
void read_worker(Fields& call, const Cursor& at, CallStep& step);

}  // namespace cairn
