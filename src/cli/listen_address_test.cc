#include "cli/listen_address.h"

#include <gtest/gtest.h>

#include "cli/arguments.h"
#include "cli/table.h"

namespace cairn::cli {
namespace {

TEST(ListenAddress, TakesNamesNumbersAndBrackets) {
  EXPECT_EQ(read_listen_address("8400")->port, 8400);
  EXPECT_EQ(read_listen_address("8400")->host, "");
  EXPECT_EQ(read_listen_address("127.0.0.1:0")->host, "127.0.0.1");
  EXPECT_EQ(read_listen_address("[::1]:80")->host, "::1");
  EXPECT_EQ(read_listen_address("[::1]:80")->port, 80);
  EXPECT_EQ(read_listen_address("::1:80")->host, "::1");
  for (const char* bad :
       {"", "x", "host:", "host:x", "host:70000", "[::1]", "[::1]80", "host:-1", "a]:80", "[[a]:80", "[::1:80"}) {
    EXPECT_FALSE(read_listen_address(bad)) << bad;
  }
}

TEST(ListenAddress, AnIpv6AddressHasBracketsInAUrl) {
  EXPECT_EQ(url_host("::1"), "[::1]");
  EXPECT_EQ(url_host("localhost"), "localhost");
}

TEST(Arguments, AUsageOfFlagsOnlyTakesNoWords) {
  EXPECT_FALSE(takes_words(""));
  EXPECT_FALSE(takes_words("[--store URL] [--json]"));
  EXPECT_FALSE(takes_words("--store URL [--role ROLE]… [--config FILE]"));
  EXPECT_TRUE(takes_words("ID [--json]"));
  EXPECT_TRUE(takes_words("[FILE|FOLDER]… [--listen HOST:PORT]"));
  EXPECT_TRUE(takes_words("[--json] ID"));
  EXPECT_TRUE(takes_words("cancel|resume --filter FILTER"));
}

TEST(Rows, LongLinesWrapOnANarrowTerminal) {
  EXPECT_EQ(rows_of("a\nbb\n\nccc\n", 80), 4u);
  EXPECT_EQ(rows_of("12345\n", 2), 3u);
  EXPECT_EQ(rows_of("1234\n", 2), 2u);
  EXPECT_EQ(rows_of("äöü\n", 3), 1u);
  EXPECT_EQ(rows_of("12345\n", 0), 1u);
}

}  // namespace
}  // namespace cairn::cli
