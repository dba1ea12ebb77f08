// The engine against servers that behave: what is sent, what comes back.

#include "fetch/curl_fetcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "fetch/fetch_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;
using std::chrono::milliseconds;

constexpr std::string_view kHello =
    "HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nContent-Length: 5\r\n"
    "X-Odd:   spaces \r\n\r\nhello";

// Keeps what was asked.
class Asked {
 public:
  void Add(std::string head) {
    MutexLock lock(mutex_);
    heads_.push_back(std::move(head));
  }
  std::vector<std::string> heads() {
    MutexLock lock(mutex_);
    return heads_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> heads_ NEPHILA_GUARDED_BY(mutex_);
};

std::string PeerOf(const ServerConnection& c) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  getpeername(c.fd(), reinterpret_cast<sockaddr*>(&peer), &size);
  return net::IpAddress::FromSockaddr(reinterpret_cast<sockaddr&>(peer), size)
      ->ToString();
}

class CurlFetcherTest : public testing::Test {
 protected:
  Engine engine_;
  Asked asked_;
  ScriptedServer server_{[this](ServerConnection& c) {
    for (std::string head = c.ReadHead(); !head.empty(); head = c.ReadHead()) {
      asked_.Add(head);
      if (!c.Send(kHello)) return;
    }
  }};
};

TEST_F(CurlFetcherTest, ReturnsHeadAndBodyAsTheServerSentThem) {
  engine_.Make();
  const auto result = engine_.Fetch(engine_.RequestTo(server_, "/a?b#c"));
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(result->truncation, Truncation::kNone);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->head, kHello.substr(0, kHello.size() - 5));
  EXPECT_EQ(BodyOf(*result), "hello");
  EXPECT_EQ(result->transfer_coding, item::TransferCoding::kRemoved);
  EXPECT_EQ(result->address_text, "127.0.0.1");
  EXPECT_EQ(result->port, server_.port());
  EXPECT_FALSE(result->reused);
  EXPECT_FALSE(result->kept);
  EXPECT_EQ(result->bytes_in, kHello.size());
  EXPECT_EQ(result->bytes_out, result->request.size());
  ASSERT_EQ(result->protocol_count, 1U);
  EXPECT_EQ(result->protocols[0], "http/1.1");
  EXPECT_EQ(result->certificate_error, "");
  EXPECT_EQ(engine_.fetcher->counts().outcomes[0].value(), 1U);
}

TEST_F(CurlFetcherTest, SaysExactlyWhatItSays) {
  engine_.agent.from = "bot@example.org";
  engine_.settings.accept_language = "pt, en;q=0.5";
  engine_.Make();
  const auto result = engine_.Fetch(engine_.RequestTo(server_, "/a?b#c"));
  ASSERT_EQ(asked_.heads().size(), 1U);
  EXPECT_EQ(result->request, asked_.heads()[0]);
  EXPECT_EQ(result->request,
            "GET /a?b HTTP/1.1\r\nHost: test.example:" +
                std::to_string(server_.port()) +
                "\r\nUser-Agent: nephila (+https://example.org/bot)\r\n"
                "From: bot@example.org\r\n"
                "Accept: text/html,application/xhtml+xml,"
                "application/xml;q=0.9,*/*;q=0.8\r\n"
                "Accept-Language: pt, en;q=0.5\r\n"
                "Accept-Encoding: gzip, deflate, br, zstd\r\n"
                "Connection: close\r\n\r\n");
}

TEST_F(CurlFetcherTest, SaysNothingOfItsOwnForWhatIsEmpty) {
  for (const std::string_view accept : {"", " \t "}) {
    Engine engine;
    engine.settings.accept = accept;
    engine.settings.accept_encoding = " ";
    engine.agent.from = " bot@example.org ";
    engine.Make();
    const auto result = engine.Fetch(engine.RequestTo(server_));
    EXPECT_EQ(result->request, asked_.heads().back());
    EXPECT_EQ(result->request.find("Accept"), std::string::npos);
    EXPECT_NE(result->request.find("\r\nFrom: bot@example.org\r\n"),
              std::string::npos);
  }
}

TEST_F(CurlFetcherTest, SendsTargetsThatCurlWouldChange) {
  engine_.Make();
  for (const std::string_view path :
       {"/a/../b/./c", "/%7euser//x", "/?", "/a|b^c{d}", "/?q=[1]\"<>'`",
        "/a//", "/%2e%2e/", "/;p?a?b"}) {
    const auto result = engine_.Fetch(engine_.RequestTo(server_, path));
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << path;
    const std::string head = asked_.heads().back();
    EXPECT_EQ(head, result->request);
    EXPECT_EQ(head.substr(0, head.find("\r\n")),
              "GET " + std::string(path) + " HTTP/1.1");
  }
}

TEST_F(CurlFetcherTest, AsksConditionally) {
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.if_none_match = "W/\"abc\"";
  request.if_modified_since = "Sun, 06 Nov 1994 08:49:37 GMT";
  request.keep_connection = true;
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(asked_.heads()[0], result->request);
  EXPECT_NE(result->request.find("\r\nIf-None-Match: W/\"abc\"\r\n"
                                 "If-Modified-Since: Sun, 06 Nov 1994 "
                                 "08:49:37 GMT\r\n\r\n"),
            std::string::npos)
      << result->request;
}

TEST_F(CurlFetcherTest, LeavesOutValuesThatWouldForgeFields) {
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.if_none_match = "\"a\"\r\nX-Evil: 1";
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse);
  EXPECT_EQ(asked_.heads()[0].find("X-Evil"), std::string::npos);
}

TEST_F(CurlFetcherTest, KeepsConnectionsOnlyWhenTold) {
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.keep_connection = true;
  const auto first = engine_.Fetch(std::move(request));
  EXPECT_FALSE(first->reused);
  EXPECT_TRUE(first->kept);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 1U);
  request = engine_.RequestTo(server_);
  request.keep_connection = true;
  const auto second = engine_.Fetch(std::move(request));
  EXPECT_TRUE(second->reused);
  EXPECT_EQ(second->address_text, "127.0.0.1");
  EXPECT_EQ(server_.accepted(), 1U);
  // The last one closes behind itself.
  const auto third = engine_.Fetch(engine_.RequestTo(server_));
  EXPECT_TRUE(third->reused);
  EXPECT_FALSE(third->kept);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
  const auto fourth = engine_.Fetch(engine_.RequestTo(server_));
  EXPECT_FALSE(fourth->reused);
  EXPECT_EQ(server_.accepted(), 2U);
  EXPECT_EQ(engine_.fetcher->counts().reused.value(), 2U);
}

TEST_F(CurlFetcherTest, FindsTheMultiWithTheConnection) {
  engine_.settings.multi_transfers = 1;
  engine_.Make();
  // Four hosts at once fill four multis.
  const auto ask = [&](int host) {
    FetchRequest request = engine_.RequestTo(server_);
    request.host = "h" + std::to_string(host) + ".example";
    request.keep_connection = true;
    return request;
  };
  for (int round = 0; round < 3; ++round) {
    for (int host = 3; host >= 0; --host) engine_.Start(ask(host));
    engine_.Run();
  }
  EXPECT_EQ(engine_.fetcher->multis(), 4U);
  EXPECT_EQ(server_.accepted(), 4U);
  EXPECT_EQ(engine_.fetcher->counts().reused.value(), 8U);
}

TEST_F(CurlFetcherTest, KeepsNoMoreConnectionsThanAllowed) {
  engine_.settings.max_kept_connections = 2;
  engine_.Make();
  for (int host = 0; host < 5; ++host) {
    FetchRequest request = engine_.RequestTo(server_);
    request.host = "h" + std::to_string(host) + ".example";
    request.keep_connection = true;
    const auto result = engine_.Fetch(std::move(request));
    EXPECT_EQ(result->kept, host < 2);
  }
  EXPECT_EQ(engine_.fetcher->kept_connections(), 2U);
}

TEST_F(CurlFetcherTest, DoesNotUseAConnectionOfAnotherAddress) {
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.keep_connection = true;
  engine_.Fetch(request);
  // The name moved to another server, on which nothing listens.
  request.id = ++engine_.last_id;
  request.address = net::IpAddress::V4(127, 0, 0, 2);
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->outcome, FetchOutcome::kConnectFailed);
  EXPECT_FALSE(result->reused);
}

TEST_F(CurlFetcherTest, TellsWhenTheServerHeardOfIt) {
  engine_.Make();
  const MonoTime before = engine_.clock.Now();
  FetchRequest request = engine_.RequestTo(server_);
  request.keep_connection = true;
  const auto fresh = engine_.Fetch(std::move(request));
  const MonoTime between = engine_.clock.Now();
  EXPECT_GE(fresh->contact, before);
  EXPECT_LE(fresh->contact, fresh->end_mono);
  EXPECT_LE(fresh->begin_mono + fresh->timings.connect, fresh->end_mono);
  EXPECT_LE(fresh->timings.request, fresh->timings.first_byte);
  EXPECT_LE(fresh->timings.first_byte, fresh->timings.total);
  const auto reused = engine_.Fetch(engine_.RequestTo(server_));
  EXPECT_GE(reused->contact, between);
  EXPECT_EQ(reused->timings.connect.count(), 0);
}

TEST_F(CurlFetcherTest, TellsOfTheContactBeforeTheAnswerIsThere) {
  // Answers come in halves, each when it may.
  std::atomic<int> may{0};
  ScriptedServer server([&](ServerConnection& c) {
    for (int half = 1; !c.ReadHead().empty(); ++half) {
      while (may < half) std::this_thread::yield();
      c.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
      ++half;
      while (may < half) std::this_thread::yield();
      c.Send("k");
    }
  });
  engine_.Make();
  const auto run_until = [&](const std::function<bool()>& done) {
    const MonoTime end = engine_.clock.Now() + std::chrono::minutes(2);
    while (!done() && engine_.clock.Now() < end) {
      engine_.loop->RunOnce(engine_.clock.Now() + std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(done());
  };
  for (const bool fresh : {true, false}) {
    engine_.contacts.clear();
    FetchRequest request = engine_.RequestTo(server);
    request.keep_connection = true;
    const uint64_t id = engine_.Start(std::move(request));
    // A kept connection says nothing about when the server has read it.
    if (fresh) {
      run_until([&] { return !engine_.contacts.empty(); });
    } else {
      for (int i = 0; i < 10; ++i) {
        engine_.loop->RunOnce(engine_.clock.Now() +
                              std::chrono::milliseconds(2));
      }
      EXPECT_TRUE(engine_.contacts.empty());
    }
    ++may;
    run_until([&] { return !engine_.contacts.empty(); });
    ++may;
    run_until([&] { return engine_.results.contains(id); });
    ASSERT_EQ(engine_.contacts.size(), 1U);
    EXPECT_EQ(engine_.contacts[0].id, id);
    EXPECT_EQ(engine_.contacts[0].fresh, fresh);
    const auto result = engine_.Take(id);
    EXPECT_EQ(engine_.contacts[0].when, result->contact);
    EXPECT_EQ(result->reused, !fresh);
    EXPECT_LT(result->contact, result->end_mono);
  }
}

TEST_F(CurlFetcherTest, CancelEndsATransferFromTheLoop) {
  ScriptedServer silent([](ServerConnection& c) { c.WaitForClient(); });
  engine_.Make();
  const uint64_t id = engine_.Start(engine_.RequestTo(silent));
  EXPECT_TRUE(engine_.fetcher->Cancel(id));
  EXPECT_EQ(engine_.fetcher->in_flight(), 1U);
  EXPECT_TRUE(engine_.results.empty());
  engine_.Run();
  EXPECT_EQ(engine_.Take(id)->outcome, FetchOutcome::kInterrupted);
  EXPECT_FALSE(engine_.fetcher->Cancel(id));
}

TEST_F(CurlFetcherTest, RefusesWhatIsNoUrl) {
  engine_.Make();
  for (const std::string_view url :
       {"", "http:", "http://test.example", "http://test.example/a b",
        "http://test.example/\r\nX: y"}) {
    FetchRequest request = engine_.RequestTo(server_);
    request.url = url;
    const auto result = engine_.Fetch(std::move(request));
    EXPECT_EQ(result->outcome, FetchOutcome::kInternalError) << url;
    EXPECT_EQ(result->error, "bad-request");
  }
  EXPECT_EQ(server_.accepted(), 0U);
}

TEST_F(CurlFetcherTest, ManyAtOnceEachGetTheirOwn) {
  ScriptedServer echo([](ServerConnection& c) {
    const std::string head = c.ReadHead();
    const std::string path = head.substr(4, head.find(' ', 4) - 4);
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) +
           "\r\n\r\n" + path);
  });
  engine_.settings.multi_transfers = 50;
  engine_.Make();
  for (int i = 0; i < 300; ++i) {
    engine_.Start(engine_.RequestTo(echo, "/" + std::to_string(i)));
  }
  engine_.Run();
  EXPECT_EQ(engine_.fetcher->multis(), 6U);
  ASSERT_EQ(engine_.results.size(), 300U);
  for (const auto& [id, result] : engine_.results) {
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
    EXPECT_EQ(BodyOf(*result), result->url.substr(result->url.find('/', 8)));
  }
}

TEST_F(CurlFetcherTest, ResultsAreUsedAgain) {
  engine_.Make();
  auto first = engine_.Fetch(engine_.RequestTo(server_));
  const FetchResult* const memory = first.get();
  engine_.fetcher->Recycle(std::move(first));
  const auto second = engine_.Fetch(engine_.RequestTo(server_, "/second"));
  EXPECT_EQ(second.get(), memory);
  EXPECT_TRUE(second->url.ends_with("/second"));
  EXPECT_EQ(BodyOf(*second), "hello");
}

TEST_F(CurlFetcherTest, SpeaksIpv6UnlessSwitchedOff) {
  const net::IpAddress loopback = *net::IpAddress::Parse("::1");
  ScriptedServer six(
      [](ServerConnection& c) {
        c.ReadHead();
        c.Send(kHello);
      },
      loopback);
  engine_.allow = "::1";
  engine_.Make();
  const auto result = engine_.Fetch(engine_.RequestTo(six));
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(result->address_text, "::1");

  Engine four;
  four.settings.ipv6 = false;
  four.allow = "::1";
  four.Make();
  const auto none = four.Fetch(four.RequestTo(six));
  EXPECT_EQ(none->outcome, FetchOutcome::kConnectFailed);
  EXPECT_EQ(none->error, "no-ipv6");
  EXPECT_EQ(six.accepted(), 1U);
}

TEST_F(CurlFetcherTest, ComesFromTheSourceAddress) {
  std::string from;
  ScriptedServer server([&](ServerConnection& c) {
    from = PeerOf(c);
    c.ReadHead();
    c.Send(kHello);
  });
  engine_.settings.source_addresses = {"::1", "127.3.2.1"};
  engine_.Make();
  const auto result = engine_.Fetch(engine_.RequestTo(server));
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(from, "127.3.2.1");
}

TEST_F(CurlFetcherTest, AsksTheProxyForATunnelToTheAddress) {
  Asked asked;
  ScriptedServer proxy([&](ServerConnection& c) {
    asked.Add(c.ReadHead());
    c.Send("HTTP/1.1 200 Go\r\nX-Proxy: 1\r\n\r\n");
    asked.Add(c.ReadHead());
    c.Send(kHello);
  });
  engine_.settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.address = *net::IpAddress::Parse("8.8.8.8");
  request.port = 80;
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  ASSERT_EQ(asked.heads().size(), 2U);
  EXPECT_TRUE(asked.heads()[0].starts_with("CONNECT 8.8.8.8:80 HTTP/1.1\r\n"))
      << asked.heads()[0];
  EXPECT_EQ(asked.heads()[1], result->request);
  EXPECT_EQ(result->head.find("X-Proxy"), std::string::npos);
  // The archive names who answered, not who passed it on.
  EXPECT_EQ(result->address_text, "8.8.8.8");
  EXPECT_EQ(result->address, *net::IpAddress::Parse("8.8.8.8"));
  EXPECT_EQ(result->port, 80);

  // What it must not be asked for, it is not.
  request = engine_.RequestTo(server_);
  request.address = net::IpAddress::V4(10, 0, 0, 1);
  EXPECT_EQ(engine_.Fetch(std::move(request))->outcome,
            FetchOutcome::kAddressRefused);
  EXPECT_EQ(proxy.accepted(), 1U);
}

TEST_F(CurlFetcherTest, TellsTheProxysFaultsFromTheServers) {
  std::string answer;
  ScriptedServer proxy([&](ServerConnection& c) {
    c.ReadHead();
    c.Send("HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\n\r\n");
  });
  engine_.settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  engine_.Make();
  answer = "407 Who are you";
  EXPECT_EQ(engine_.Fetch(engine_.RequestTo(server_))->outcome,
            FetchOutcome::kProxyFailed);
  answer = "502 Not there";
  EXPECT_EQ(engine_.Fetch(engine_.RequestTo(server_))->outcome,
            FetchOutcome::kConnectFailed);

  Engine alone;
  alone.settings.proxy = "socks5://127.0.0.1:1";
  alone.Make();
  EXPECT_EQ(alone.Fetch(alone.RequestTo(server_))->outcome,
            FetchOutcome::kProxyFailed);
}

TEST_F(CurlFetcherTest, TellsASilentProxyFromASilentServer) {
  engine_.settings.connect_timeout = milliseconds(60);
  const DeafServer deaf;
  engine_.settings.proxy = "http://127.0.0.1:" + std::to_string(deaf.port());
  engine_.Make();
  const auto unreached = engine_.Fetch(engine_.RequestTo(server_));
  EXPECT_EQ(unreached->outcome, FetchOutcome::kProxyFailed);
  EXPECT_EQ(unreached->error, "connect-time");
  EXPECT_EQ(unreached->port, server_.port());

  ScriptedServer proxy([](ServerConnection& c) { c.WaitForClient(); });
  Engine other;
  other.settings.connect_timeout = milliseconds(300);
  other.settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  other.Make();
  const auto silent = other.Fetch(other.RequestTo(server_));
  EXPECT_EQ(silent->outcome, FetchOutcome::kConnectFailed);
  EXPECT_EQ(silent->error, "connect-time");
}

TEST_F(CurlFetcherTest, ComesToTheProxyFromASourceOfItsFamily) {
  std::string from;
  ScriptedServer proxy([&](ServerConnection& c) {
    from = PeerOf(c);
    c.ReadHead();
    c.Send("HTTP/1.1 200 Go\r\n\r\n");
    c.ReadHead();
    c.Send(kHello);
  });
  engine_.settings.source_addresses = {"::1", "127.3.2.1"};
  engine_.settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  engine_.Make();
  FetchRequest request = engine_.RequestTo(server_);
  request.address = *net::IpAddress::Parse("2a00:1450::1");
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(result->address_text, "2a00:1450::1");
  EXPECT_EQ(from, "127.3.2.1");
}

TEST_F(CurlFetcherTest, CookiesGoBackToTheirHost) {
  ScriptedServer server([this](ServerConnection& c) {
    asked_.Add(c.ReadHead());
    c.Send(
        "HTTP/1.1 200 OK\r\nSet-Cookie: session=42; Path=/\r\n"
        "set-cookie:  lang=pt\r\nContent-Length: 0\r\n\r\n");
  });
  const auto suffixes = url::PublicSuffixList::BuiltIn();
  engine_.cookies =
      std::make_unique<CookieJar>(engine_.settings, suffixes, engine_.clock);
  engine_.Make();
  engine_.Fetch(engine_.RequestTo(server, "/a"));
  const auto second = engine_.Fetch(engine_.RequestTo(server, "/b"));
  FetchRequest request = engine_.RequestTo(server, "/c");
  request.host = "other.test";
  engine_.Fetch(std::move(request));
  ASSERT_EQ(asked_.heads().size(), 3U);
  EXPECT_EQ(asked_.heads()[0].find("Cookie"), std::string::npos);
  EXPECT_NE(asked_.heads()[1].find("\r\nCookie: session=42; lang=pt\r\n"),
            std::string::npos)
      << asked_.heads()[1];
  EXPECT_EQ(asked_.heads()[1], second->request);
  EXPECT_EQ(asked_.heads()[2].find("Cookie"), std::string::npos);
}

}  // namespace
}  // namespace nephila::fetch
