#include "fetch/cookie_jar.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "url/parser.h"

namespace nephila::fetch {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const url::PublicSuffixList& Suffixes() {
  static const auto* const kList =
      new url::PublicSuffixList(url::PublicSuffixList::BuiltIn());
  return *kList;
}

class CookieJarTest : public testing::Test {
 protected:
  CookieVerdict Set(std::string_view url, std::string_view cookie) {
    return jar().Store(Scope(url), cookie);
  }
  std::string Get(std::string_view url) { return jar().HeaderFor(Scope(url)); }

  CookieJar& jar() {
    if (!jar_) jar_.emplace(settings_, Suffixes(), clock_);
    return *jar_;
  }

  config::FetchSettings settings_;
  ManualClock clock_;

 private:
  CookieScope Scope(std::string_view text) {
    EXPECT_TRUE(url::Parse(text, nullptr, &url_)) << text;
    return CookieScopeOf(url_);
  }

  url::Url url_;
  std::optional<CookieJar> jar_;
};

TEST_F(CookieJarTest, GoesBackToTheHostThatSetIt) {
  EXPECT_EQ(Set("http://www.example.com/", "id=1"), CookieVerdict::kStored);
  EXPECT_EQ(Get("http://www.example.com/"), "id=1");
  EXPECT_EQ(Get("https://www.example.com:8443/x?y"), "id=1");
  EXPECT_EQ(Get("http://example.com/"), "");
  EXPECT_EQ(Get("http://a.www.example.com/"), "");
  EXPECT_EQ(Get("http://www.example.org/"), "");
}

TEST_F(CookieJarTest, GoesToAllHostsOfItsDomain) {
  EXPECT_EQ(Set("http://www.example.co.uk/", "id=1; Domain=.Example.CO.UK"),
            CookieVerdict::kStored);
  EXPECT_EQ(Get("http://example.co.uk/"), "id=1");
  EXPECT_EQ(Get("http://a.b.example.co.uk/"), "id=1");
  EXPECT_EQ(Get("http://notexample.co.uk/"), "");
}

TEST_F(CookieJarTest, RefusesDomainsThatAreNotItsOwn) {
  for (const char* domain :
       {"example.org", "b.example.com", "ample.com", "\xc3\xa4.com", "x y"}) {
    EXPECT_EQ(
        Set("http://a.example.com/", std::string("x=1; Domain=") + domain),
        CookieVerdict::kForeignDomain)
        << domain;
  }
  EXPECT_EQ(Set("http://a.example.co.uk/", "x=1; Domain=co.uk"),
            CookieVerdict::kPublicSuffix);
  EXPECT_EQ(Set("http://a.example.com/", "x=1; Domain=com"),
            CookieVerdict::kPublicSuffix);
  // Owned by many: a rule of the list's private part.
  EXPECT_EQ(Set("http://a.github.io/", "x=1; Domain=github.io"),
            CookieVerdict::kPublicSuffix);
  // A public suffix with pages of its own has them for itself.
  EXPECT_EQ(Set("http://github.io/", "own=1; Domain=github.io"),
            CookieVerdict::kStored);
  EXPECT_EQ(Get("http://github.io/"), "own=1");
  EXPECT_EQ(Get("http://a.github.io/"), "");
  EXPECT_EQ(jar().cookies(), 1u);
}

TEST_F(CookieJarTest, AddressesHaveNoDomains) {
  EXPECT_EQ(Set("http://192.0.2.1/", "a=1; Domain=0.2.1"),
            CookieVerdict::kForeignDomain);
  EXPECT_EQ(Set("http://192.0.2.1/", "a=1; Domain=192.0.2.1"),
            CookieVerdict::kStored);
  EXPECT_EQ(Set("http://[2001:db8::1]/", "b=2"), CookieVerdict::kStored);
  EXPECT_EQ(Get("http://192.0.2.1/"), "a=1");
  EXPECT_EQ(Get("http://[2001:db8::1]/"), "b=2");
  EXPECT_EQ(Get("http://192.0.2.2/"), "");
}

TEST_F(CookieJarTest, KeepsToItsPath) {
  Set("http://example.com/shop/list?x", "a=1");
  Set("http://example.com/", "b=2; Path=/shop/list");
  Set("http://example.com/shop", "c=3; Path=relative");
  EXPECT_EQ(Get("http://example.com/shop"), "a=1; c=3");
  EXPECT_EQ(Get("http://example.com/shop/other"), "a=1; c=3");
  EXPECT_EQ(Get("http://example.com/shop/list/1"), "b=2; a=1; c=3");
  EXPECT_EQ(Get("http://example.com/shopping"), "c=3");
}

TEST_F(CookieJarTest, SecureCookiesStayOnTls) {
  EXPECT_EQ(Set("http://example.com/", "a=1; Secure"),
            CookieVerdict::kNotSecure);
  EXPECT_EQ(Set("https://example.com/", "a=1; Secure"), CookieVerdict::kStored);
  EXPECT_EQ(Get("https://example.com/"), "a=1");
  EXPECT_EQ(Get("http://example.com/"), "");
  // Plain HTTP cannot put another in its place.
  EXPECT_EQ(Set("http://example.com/", "a=2"), CookieVerdict::kNotSecure);
  EXPECT_EQ(Set("http://www.example.com/", "a=2; Domain=example.com"),
            CookieVerdict::kNotSecure);
  EXPECT_EQ(Set("http://example.com/", "b=2"), CookieVerdict::kStored);
}

TEST_F(CookieJarTest, PrefixesKeepTheirPromise) {
  EXPECT_EQ(Set("https://example.com/", "__Secure-a=1"),
            CookieVerdict::kPrefix);
  EXPECT_EQ(Set("https://example.com/", "__secure-a=1; Secure"),
            CookieVerdict::kStored);
  EXPECT_EQ(Set("https://example.com/", "__Host-a=1; Secure"),
            CookieVerdict::kPrefix);
  EXPECT_EQ(Set("https://example.com/",
                "__Host-a=1; Secure; Path=/; Domain=example.com"),
            CookieVerdict::kPrefix);
  EXPECT_EQ(Set("https://example.com/", "__Host-a=1; Path=/"),
            CookieVerdict::kPrefix);
  EXPECT_EQ(Set("https://example.com/", "__Host-a=1; Secure; Path=/"),
            CookieVerdict::kStored);
  EXPECT_EQ(Set("https://example.com/", "=__Host-b=1; Secure; Path=/"),
            CookieVerdict::kPrefix);
}

TEST_F(CookieJarTest, LivesAsLongAsItSays) {
  Set("http://example.com/", "session=1");
  Set("http://example.com/", "age=2; Max-Age=60");
  // The clock stands at 2026-01-01.
  Set("http://example.com/", "date=3; Expires=Thu, 01 Jan 2026 00:02:00 GMT");
  Set("http://example.com/",
      "both=4; Max-Age=60; Expires=Thu, 01 Jan 2026 00:02:00 GMT");
  Set("http://example.com/", "bad=5; Max-Age=1x; Expires=soon");
  EXPECT_EQ(Get("http://example.com/"),
            "session=1; age=2; date=3; both=4; bad=5");
  clock_.Advance(seconds(60));
  EXPECT_EQ(Get("http://example.com/"), "session=1; date=3; bad=5");
  // A life is a length: who sets the clock changes nothing.
  clock_.StepWall(hours(1'000'000));
  EXPECT_EQ(Get("http://example.com/"), "session=1; date=3; bad=5");
  clock_.Advance(seconds(60));
  EXPECT_EQ(Get("http://example.com/"), "session=1; bad=5");
}

TEST_F(CookieJarTest, NoLifeIsLongerThanTheBound) {
  settings_.cookie_max_age = hours(1);
  Set("http://example.com/", "a=1; Max-Age=99999999999999999999999");
  Set("http://example.com/", "b=2; Expires=Fri, 31 Dec 9999 23:59:59 GMT");
  clock_.Advance(hours(1) - seconds(1));
  EXPECT_EQ(Get("http://example.com/"), "a=1; b=2");
  clock_.Advance(seconds(1));
  EXPECT_EQ(Get("http://example.com/"), "");
}

TEST_F(CookieJarTest, IsReplacedAndRemoved) {
  Set("http://example.com/", "a=1");
  Set("http://example.com/", "b=1");
  Set("http://example.com/", "a=2");
  EXPECT_EQ(Get("http://example.com/"), "a=2; b=1") << "it keeps its age";
  for (const char* end : {"; Max-Age=0", "; Max-Age=-5",
                          "; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}) {
    Set("http://example.com/", "a=3");
    EXPECT_EQ(Set("http://example.com/", std::string("a=x") + end),
              CookieVerdict::kRemoved);
    EXPECT_EQ(Get("http://example.com/"), "b=1");
  }
  Set("http://example.com/", "b=1; Max-Age=0");
  EXPECT_EQ(jar().cookies(), 0u);
}

TEST_F(CookieJarTest, ReadsWhatServersWrite) {
  EXPECT_EQ(Set("http://example.com/", " a = 1 2 ;;; HttpOnly;SameSite=Lax"),
            CookieVerdict::kStored);
  EXPECT_EQ(Set("http://example.com/", "alone"), CookieVerdict::kStored);
  EXPECT_EQ(Set("http://example.com/", "q=\"x=y\""), CookieVerdict::kStored);
  EXPECT_EQ(Set("http://example.com/", "empty="), CookieVerdict::kStored);
  EXPECT_EQ(Get("http://example.com/"), "a=1 2; alone; q=\"x=y\"; empty=");
  for (std::string_view text :
       {std::string_view(""), std::string_view("="), std::string_view(";a=b"),
        std::string_view("a=b\rX: y"), std::string_view("a=\0", 3),
        std::string_view("a=b\x7f")}) {
    EXPECT_EQ(Set("http://example.com/", text), CookieVerdict::kMalformed);
  }
}

TEST_F(CookieJarTest, BoundsACookie) {
  EXPECT_EQ(Set("http://example.com/", "a=" + std::string(4095, 'x')),
            CookieVerdict::kStored);
  EXPECT_EQ(Set("http://example.com/", "a=" + std::string(4096, 'x')),
            CookieVerdict::kTooLarge);
  // An attribute that is too long is none.
  Set("http://example.com/x/", "p=1; Path=/" + std::string(1024, 'y'));
  EXPECT_TRUE(Get("http://example.com/x/").starts_with("p=1"));
}

TEST_F(CookieJarTest, BoundsTheCookiesOfAHost) {
  settings_.cookies_per_host = 3;
  for (int i = 0; i < 3; ++i) {
    Set("http://example.com/", "c" + std::to_string(i) + "=1");
  }
  Set("http://example.com/x", "path=1; Path=/only");
  EXPECT_EQ(Get("http://example.com/"), "c1=1; c2=1");
  // The one that was never sent goes first.
  Set("http://example.com/", "c3=1");
  EXPECT_EQ(Get("http://example.com/only"), "c1=1; c2=1; c3=1");
  // Another host of the site has its own, but not without end.
  for (int i = 0; i < 100; ++i) {
    Set("http://h" + std::to_string(i) + ".example.com/", "c=1");
  }
  EXPECT_EQ(jar().cookies(), 3 * CookieJar::kSiteHosts);
}

TEST_F(CookieJarTest, ExpiredOnesMakeRoom) {
  settings_.cookies_per_host = 2;
  Set("http://example.com/", "a=1");
  Set("http://example.com/", "b=1; Max-Age=5");
  Get("http://example.com/");
  clock_.Advance(seconds(10));
  Set("http://example.com/", "c=1");
  EXPECT_EQ(Get("http://example.com/"), "a=1; c=1");
}

TEST_F(CookieJarTest, BoundsItsMemory) {
  settings_.cookie_memory_bytes = 2 << 20;
  Set("http://kept.example/", "a=1");
  const std::string large(4000, 'x');
  for (int i = 0; i < 3'000; ++i) {
    Set("http://s" + std::to_string(i) + ".example/", "large=" + large);
    // What is asked for stays.
    EXPECT_EQ(Get("http://kept.example/"), "a=1") << i;
    ASSERT_LE(jar().memory_bytes(), settings_.cookie_memory_bytes);
  }
  EXPECT_GT(jar().cookies(), 300u);
  EXPECT_EQ(Get("http://s0.example/"), "");
  EXPECT_EQ(Get("http://s2999.example/"), "large=" + large);
}

TEST_F(CookieJarTest, WhatIsRemovedTakesNoMemory) {
  for (int i = 0; i < 1'000; ++i) {
    const std::string url = "http://s" + std::to_string(i) + ".example/";
    Set(url, "a=1");
    EXPECT_EQ(Set(url, "a=; Max-Age=0"), CookieVerdict::kRemoved);
    Set(url, "b=; Max-Age=0");
  }
  EXPECT_EQ(jar().memory_bytes(), 0u);
  // A list that was long is not kept for the one that is left.
  Set("http://example.com/", "c0=1");
  const uint64_t one = jar().memory_bytes();
  for (int i = 1; i < 40; ++i) {
    Set("http://example.com/", "c" + std::to_string(i) + "=1");
  }
  EXPECT_GT(jar().memory_bytes(), 10 * one);
  for (int i = 1; i < 40; ++i) {
    Set("http://example.com/", "c" + std::to_string(i) + "=1; Max-Age=0");
  }
  EXPECT_EQ(Get("http://example.com/"), "c0=1");
  EXPECT_LE(jar().memory_bytes(), 3 * one);
}

TEST_F(CookieJarTest, CountsTheRoomOfItsLists) {
  std::vector<uint64_t> bytes;
  for (int i = 0; i < 5; ++i) {
    Set("http://example.com/", std::to_string(i) + "=1");
    bytes.push_back(jar().memory_bytes());
  }
  // The fourth has a place, the fifth makes places for eight.
  EXPECT_LT(bytes[3] - bytes[2], 50u);
  EXPECT_GT(bytes[4] - bytes[3], 300u);
}

// A site that fits nothing leaves nothing behind.
TEST_F(CookieJarTest, AJarWithoutMemoryStaysEmpty) {
  settings_.cookie_memory_bytes = 1;
  for (int i = 0; i < 100; ++i) {
    Set("http://s" + std::to_string(i) + ".example/", "a=1");
  }
  EXPECT_EQ(jar().memory_bytes(), 0u);
}

TEST_F(CookieJarTest, NobodyCanAimAtOneOfItsParts) {
  settings_.cookie_memory_bytes = 2 << 20;
  const std::string large(4000, 'x');
  int sites = 0;
  for (int i = 0; sites < 300; ++i) {
    const std::string site = "s" + std::to_string(i) + ".example";
    if (KeyedHash(site, 0) % 16 != 0) continue;
    ++sites;
    Set("http://" + site + "/", "a=" + large);
  }
  // A part has room for 30.
  EXPECT_GT(jar().cookies(), 200u);
}

TEST_F(CookieJarTest, OneSiteDoesNotPushOutTheOthers) {
  settings_.cookie_memory_bytes = 2 << 20;
  for (int i = 0; i < 100; ++i) {
    Set("http://s" + std::to_string(i) + ".example/", "a=1");
  }
  const std::string large(4000, 'x');
  for (int i = 0; i < 1'000; ++i) {
    Set("http://h" + std::to_string(i) + ".hostile.example/", "a=" + large);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get("http://s" + std::to_string(i) + ".example/"), "a=1") << i;
  }
}

TEST_F(CookieJarTest, BoundsTheHeader) {
  for (int i = 0; i < 10; ++i) {
    Set("http://example.com/",
        std::to_string(i) + "=" + std::string(1500, 'x'));
  }
  Set("http://example.com/", "small=1");
  const std::string header = Get("http://example.com/");
  EXPECT_LE(header.size(), CookieJar::kLongestHeader);
  EXPECT_GT(header.size(), 5 * 1500u);
  EXPECT_TRUE(header.ends_with("; small=1"));
}

TEST_F(CookieJarTest, CanBeOff) {
  settings_.cookies = false;
  EXPECT_EQ(Set("http://example.com/", "a=1"), CookieVerdict::kOff);
  EXPECT_EQ(Get("http://example.com/"), "");
}

TEST_F(CookieJarTest, ServesManyThreads) {
  settings_.cookie_memory_bytes = 2 << 20;
  CookieJar& shared = jar();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared, t] {
      for (int i = 0; i < 2'000; ++i) {
        const std::string host =
            "h" + std::to_string((i * 7 + t) % 500) + ".example";
        CookieScope scope;
        scope.host = host;
        scope.path = "/";
        shared.Store(scope, "a=" + std::string(500, 'x'));
        shared.HeaderFor(scope);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(shared.memory_bytes(), settings_.cookie_memory_bytes);
  EXPECT_GT(shared.cookies(), 100u);
}

}  // namespace
}  // namespace nephila::fetch
