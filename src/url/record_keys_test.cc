#include "url/record_keys.h"

#include <gtest/gtest.h>

#include <string>

#include "config/settings.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::url {
namespace {

TEST(RecordKeys, AreThoseOfTheCanonicalizer) {
  const PublicSuffixList suffixes = PublicSuffixList::BuiltIn();
  config::UrlSettings settings;
  settings.strip_host_dot = false;
  settings.strip_userinfo = false;
  Canonicalizer canonicalizer(settings, suffixes, 99);
  for (const char* link :
       {"http://example.com/", "https://a.b.example.co.uk:8080/x?y",
        "http://127.0.0.1/", "http://[2001:db8::1]:81/a", "http://com/",
        "http://me:pass@www.example.org/", "http://dot.example.org./x"}) {
    const auto canonical = canonicalizer.Canonicalize(link, nullptr);
    ASSERT_TRUE(canonical.has_value()) << link;
    const item::UrlRecord record = MakeUrlRecord(*canonical);
    ASSERT_TRUE(item::IsValid(record)) << link;
    EXPECT_EQ(record.host(), canonical->host);
    EXPECT_EQ(record.pld(), canonical->pld);
    EXPECT_EQ(KeysOf(record, 99), canonical->keys) << link;
  }
}

}  // namespace
}  // namespace nephila::url
