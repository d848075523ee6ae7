#include "redis/connection.h"

#include <gtest/gtest.h>

namespace cairn::redis {
namespace {

TEST(RedisUrl, HasTheDocumentedForm) {
  if (!check_url("redis://host")) GTEST_SKIP() << "built without Redis";
  for (const char* const url : {"redis://host:6379", "redis://host:6379/3", "redis://host/0", "redis://user:pass@host",
                                "redis://:p@ss@host", "unix:/run/redis.sock"}) {
    EXPECT_TRUE(check_url(url)) << url;
  }
  for (const char* const url :
       {"", "host", "redis://", "redis://:6379", "redis://user@host", "redis://host:", "redis://host:65536",
        "redis://host:+1", "redis://host:-1", "redis://host/x", "unix:"}) {
    EXPECT_FALSE(check_url(url)) << url;
  }
}

TEST(RedisUrl, AcceptsOnlyDigitsAsNumbers) {
  EXPECT_FALSE(check_url("redis://host:-0"));
  EXPECT_FALSE(check_url("redis://host/-0"));
}

}  // namespace
}  // namespace cairn::redis
