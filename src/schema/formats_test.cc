#include "schema/formats.h"

#include <gtest/gtest.h>

#include "schema/uri.h"

namespace cairn::schema {
namespace {

bool accepts(std::string_view format, std::string_view text) {
  const Format* known = find_format(format);
  EXPECT_TRUE(known) << format;
  return known && known->accepts(text);
}

struct Sample {
  std::string_view format;
  std::string_view good;
  std::string_view bad;
};

TEST(Formats, TellGoodFromBad) {
  for (const Sample& sample : {
           Sample{"date", "2024-02-29", "2023-02-29"},
           Sample{"date-time", "2016-12-31T23:59:60Z", "2016-12-31T23:58:60Z"},
           Sample{"time", "01:29:60+01:30", "12:00:00"},
           Sample{"duration", "P1Y2M3DT4H5M6S", "PT1H2S"},
           Sample{"email", "\"joe bloggs\"@example.com", "joe bloggs@example.com"},
           Sample{"hostname", "xn--4dbc5h", "xn--5db1e"},
           Sample{"ipv4", "10.20.30.40", "10.020.30.40"},
           Sample{"ipv6", "1::d6:192.168.0.1", "1::d6::42"},
           Sample{"json-pointer", "/a~1b", "/~2"},
           Sample{"regex", "(?=a)(b)\\1", "^(abc]"},
           Sample{"relative-json-pointer", "1/foo", "01/foo"},
           Sample{"uri", "ldap://[2001:db8::7]/c=GB?one", "//example.com"},
           Sample{"uri-reference", "./this:that", "1:b"},
           Sample{"uri-template", "/orders/{id}{?page*}", "/orders/{id"},
           Sample{"uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380"},
       }) {
    EXPECT_TRUE(accepts(sample.format, sample.good)) << sample.format << " " << sample.good;
    EXPECT_FALSE(accepts(sample.format, sample.bad)) << sample.format << " " << sample.bad;
    EXPECT_FALSE(accepts(sample.format, "\\ \x7f(")) << sample.format;
  }
  EXPECT_EQ(find_format("idn-email"), nullptr);
}

// The examples of RFC 3986, section 5.4.
TEST(Uri, ResolvesAgainstABase) {
  constexpr std::string_view base = "http://a/b/c/d;p?q";
  EXPECT_EQ(resolve_uri(base, "g:h"), "g:h");
  EXPECT_EQ(resolve_uri(base, "g"), "http://a/b/c/g");
  EXPECT_EQ(resolve_uri(base, "./g"), "http://a/b/c/g");
  EXPECT_EQ(resolve_uri(base, "/g"), "http://a/g");
  EXPECT_EQ(resolve_uri(base, "//g"), "http://g");
  EXPECT_EQ(resolve_uri(base, "?y"), "http://a/b/c/d;p?y");
  EXPECT_EQ(resolve_uri(base, "#s"), "http://a/b/c/d;p?q");
  EXPECT_EQ(resolve_uri(base, ""), "http://a/b/c/d;p?q");
  EXPECT_EQ(resolve_uri(base, ".."), "http://a/b/");
  EXPECT_EQ(resolve_uri(base, "../../../g"), "http://a/g");
  EXPECT_EQ(resolve_uri(base, "./g/."), "http://a/b/c/g/");
  EXPECT_EQ(resolve_uri("http://a", "g"), "http://a/g");
  EXPECT_EQ(resolve_uri("urn:uuid:1", "#a"), "urn:uuid:1");
}

}  // namespace
}  // namespace cairn::schema
