// SQLite's own page cache with one shortcut: at the end of a transaction it is told to forget pages beyond the end of
// the file, and looks at every page it holds when any page ever had a number that high. Splitting a page gives one such
// a number for a moment, so nearly every commit paid for it.
#pragma once

namespace cairn::sqlite {

// Before the first connection of the process. Where SQLite is in use already, its own cache stays.
void install_page_cache();

}  // namespace cairn::sqlite
