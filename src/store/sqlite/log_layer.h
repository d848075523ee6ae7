// A layer between SQLite and its write-ahead log. SQLite writes a log page by page, with two calls for each; here they
// are gathered and go out together when the log is synced, read or measured.
#pragma once

namespace cairn::sqlite {

// The name under which a writing connection is opened: over SQLite's default file system as it is now. Only for
// connections with `synchronous = FULL`, which sync a commit before anybody else may read it.
const char* log_layer();

}  // namespace cairn::sqlite
