// Every named behaviour of an answer, step by step, without sockets.

#include "sim/answer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <set>
#include <string>

namespace nephila::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Site MakeSite(const std::string& rules) {
  auto scenario = ParseScenario("[web]\npage_bytes = 4000\n" + rules, "s");
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return *Site::Make(*std::move(scenario));
}

// "behaviour" of the host t.example, with more keys.
std::string RuleFor(std::string_view behaviour, std::string_view keys = "") {
  return "[[rule]]\nhost = \"t.example\"\npath = \"/*\"\nbehaviour = \"" +
         std::string(behaviour) + "\"\n" + std::string(keys) + "\n";
}

Request Get(std::string_view target = "/", std::string host = "t.example") {
  Request request;
  request.method = "GET";
  request.target = target;
  request.host = std::move(host);
  return request;
}

struct Answered {
  std::string bytes;
  Step last;
  int steps = 0;
  std::chrono::nanoseconds waited{0};
  int status = 0;

  std::string head() const { return bytes.substr(0, bytes.find("\r\n\r\n")); }
  std::string body() const { return bytes.substr(bytes.find("\r\n\r\n") + 4); }
  bool Says(std::string_view line) const {
    return (head() + "\r\n").find("\r\n" + std::string(line) + "\r\n") !=
           std::string::npos;
  }
};

Answered Ask(const Site& site, const Request& request, int max_steps = 1000,
             MonoTime now = MonoTime(seconds(0))) {
  Answerer answerer(site);
  Exchange exchange;
  Answered answered;
  answered.last = answerer.Begin(request, now, &exchange, &answered.bytes);
  while (answered.steps < max_steps && (answered.last.then == Then::kMore ||
                                        answered.last.then == Then::kWait)) {
    ++answered.steps;
    answered.waited += answered.last.wait;
    answered.last = answerer.Continue(&exchange, &answered.bytes);
  }
  answered.status = exchange.status;
  return answered;
}

Answered Ask(const std::string& rules, const Request& request = Get(),
             int max_steps = 1000) {
  const Site site = MakeSite(rules);
  return Ask(site, request, max_steps);
}

TEST(AnswerTest, SendsAPageWithItsLength) {
  const Answered page = Ask(RuleFor("page"));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.bytes.substr(0, 17), "HTTP/1.1 200 OK\r\n");
  EXPECT_TRUE(
      page.Says("Content-Length: " + std::to_string(page.body().size())));
  EXPECT_EQ(page.last.then, Then::kKeep);
  EXPECT_GT(page.body().size(), 3000U);
}

TEST(AnswerTest, ClosesWhenAskedOrTold) {
  Request request = Get();
  request.keep_alive = false;
  const Answered asked = Ask(RuleFor("page"), request);
  EXPECT_EQ(asked.last.then, Then::kClose);
  EXPECT_TRUE(asked.Says("Connection: close"));
  EXPECT_EQ(Ask(RuleFor("close")).last.then, Then::kClose);
}

TEST(AnswerTest, SendsNoBodyToHead) {
  Request request = Get();
  request.method = "HEAD";
  const Answered page = Ask(RuleFor("page"), request);
  EXPECT_EQ(page.body(), "");
  EXPECT_NE(page.head().find("Content-Length: "), std::string::npos);
}

TEST(AnswerTest, KnowsAPageThatTheClientHas) {
  const Answered page = Ask(RuleFor("page"));
  const size_t at = page.head().find("ETag: ") + 6;
  const std::string etag =
      page.head().substr(at, page.head().find("\r\n", at) - at);
  Request again = Get();
  again.if_none_match = etag;
  const Answered same = Ask(RuleFor("page"), again);
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body(), "");
  again.if_none_match = "\"other\"";
  EXPECT_EQ(Ask(RuleFor("page"), again).status, 200);
}

TEST(AnswerTest, SendsStatusCodes) {
  const Answered gone = Ask(RuleFor("status", "status = 410"));
  EXPECT_EQ(gone.bytes.substr(0, 18), "HTTP/1.1 410 Gone\r");
  EXPECT_EQ(gone.last.then, Then::kKeep);
  EXPECT_EQ(Ask(RuleFor("status", "status = 204")).body(), "");
  EXPECT_EQ(Ask(RuleFor("status", "text = \"abc\"")).body(), "abc");
}

TEST(AnswerTest, Redirects) {
  const Answered moved =
      Ask(RuleFor("redirect", "target = \"http://b.example/\""));
  EXPECT_EQ(moved.status, 301);
  EXPECT_TRUE(moved.Says("Location: http://b.example/"));
  EXPECT_EQ(Ask(RuleFor("redirect", "target = \"/\"\nstatus = 307")).status,
            307);
}

TEST(AnswerTest, RedirectsInChainsThatEnd) {
  const std::string rules = RuleFor("redirect-chain", "count = 2");
  EXPECT_TRUE(Ask(rules, Get("/a")).Says("Location: /a?hop=1"));
  EXPECT_TRUE(Ask(rules, Get("/a?hop=1")).Says("Location: /a?hop=2"));
  EXPECT_EQ(Ask(rules, Get("/a?hop=2")).status, 200);
  EXPECT_TRUE(Ask(rules, Get("/a?x=1")).Says("Location: /a?x=1&hop=1"));
}

TEST(AnswerTest, RedirectsInLoops) {
  const std::string rules = RuleFor("redirect-loop", "count = 2");
  EXPECT_TRUE(Ask(rules, Get("/a")).Says("Location: /a?hop=1"));
  EXPECT_TRUE(Ask(rules, Get("/a?hop=1")).Says("Location: /a"));
  EXPECT_TRUE(Ask(RuleFor("redirect-loop", "count = 1"), Get("/a"))
                  .Says("Location: /a"));
}

TEST(AnswerTest, WaitsBeforeTheFirstByte) {
  const Site site = MakeSite(RuleFor("slow-first-byte", "delay = \"30s\""));
  Answerer answerer(site);
  Exchange exchange;
  std::string out;
  const Step step = answerer.Begin(Get(), MonoTime(), &exchange, &out);
  EXPECT_EQ(step.then, Then::kWait);
  EXPECT_EQ(step.wait, seconds(30));
  EXPECT_EQ(out, "");
  EXPECT_EQ(answerer.Continue(&exchange, &out).then, Then::kKeep);
  EXPECT_EQ(out, Ask(RuleFor("page")).bytes);
}

TEST(AnswerTest, DripsTheBody) {
  const Site site =
      MakeSite(RuleFor("slow-drip", "delay = \"100ms\"\nbytes = 1000"));
  Answerer answerer(site);
  Exchange exchange;
  std::string out;
  EXPECT_EQ(answerer.Begin(Get(), MonoTime(), &exchange, &out).then,
            Then::kWait);
  EXPECT_TRUE(out.ends_with("\r\n\r\n"));
  const size_t head = out.size();
  EXPECT_EQ(answerer.Continue(&exchange, &out).wait, milliseconds(100));
  EXPECT_EQ(out.size(), head + 1000);
  const Answered all = Ask(site, Get());
  EXPECT_EQ(all.bytes, Ask(RuleFor("page")).bytes);
  EXPECT_GE(all.waited, milliseconds(400));
}

TEST(AnswerTest, NeverEndsABody) {
  const Answered endless = Ask(RuleFor("endless-body"), Get(), 100);
  EXPECT_EQ(endless.last.then, Then::kMore);
  EXPECT_GT(endless.body().size(), 100U * 16'000);
  EXPECT_EQ(endless.head().find("Content-Length"), std::string::npos);
}

TEST(AnswerTest, HangsDropsAndResets) {
  EXPECT_EQ(Ask(RuleFor("hang")).last.then, Then::kHang);
  EXPECT_EQ(Ask(RuleFor("drop")).last.then, Then::kClose);
  EXPECT_EQ(Ask(RuleFor("reset")).last.then, Then::kReset);
  EXPECT_EQ(Ask(RuleFor("drop")).bytes, "");
}

TEST(AnswerTest, CutsBodiesShort) {
  const Answered cut = Ask(RuleFor("cut-body", "bytes = 100"));
  EXPECT_EQ(cut.body().size(), 100U);
  EXPECT_EQ(cut.last.then, Then::kClose);
  const Answered half = Ask(RuleFor("half-close"));
  EXPECT_EQ(half.last.then, Then::kHalfClose);
  EXPECT_FALSE(
      half.Says("Content-Length: " + std::to_string(half.body().size())));
}

TEST(AnswerTest, BreaksChunking) {
  const Answered broken = Ask(RuleFor("broken-chunking"));
  EXPECT_TRUE(broken.Says("Transfer-Encoding: chunked"));
  EXPECT_NE(broken.body().find("\r\nno number\r\n"), std::string::npos);
  EXPECT_EQ(broken.last.then, Then::kClose);
}

TEST(AnswerTest, LiesAboutLengthAndType) {
  const Answered longer = Ask(RuleFor("wrong-length", "by = 7"));
  EXPECT_TRUE(longer.Says("Content-Length: " +
                          std::to_string(longer.body().size() + 7)));
  const Answered shorter = Ask(RuleFor("wrong-length", "by = -7"));
  EXPECT_TRUE(shorter.Says("Content-Length: " +
                           std::to_string(shorter.body().size() - 7)));
  EXPECT_TRUE(Ask(RuleFor("content-type", "type = \"image/png\""))
                  .Says("Content-Type: image/png"));
}

int InflateResult(std::string packed, uint64_t* bytes) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string part(1 << 20, '\0');
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
  }
  *bytes = stream.total_out;
  inflateEnd(&stream);
  return result;
}

TEST(AnswerTest, SendsGzipBombs) {
  const Answered bomb = Ask(RuleFor("gzip-bomb", "bytes = 50000000"));
  EXPECT_TRUE(bomb.Says("Content-Encoding: gzip"));
  uint64_t bytes = 0;
  EXPECT_EQ(InflateResult(bomb.body(), &bytes), Z_STREAM_END);
  EXPECT_GE(bytes, 50'000'000U);
  EXPECT_LT(bomb.body().size(), 250'000U);
}

TEST(AnswerTest, BreaksGzip) {
  const Answered broken = Ask(RuleFor("broken-gzip"));
  EXPECT_TRUE(broken.Says("Content-Encoding: gzip"));
  EXPECT_TRUE(
      broken.Says("Content-Length: " + std::to_string(broken.body().size())));
  uint64_t bytes = 0;
  EXPECT_NE(InflateResult(broken.body(), &bytes), Z_STREAM_END);
}

TEST(AnswerTest, FloodsWithHeaders) {
  const Answered flood = Ask(RuleFor("header-flood", "count = 50\nbytes = 10"));
  EXPECT_TRUE(flood.Says("X-Flood-50: xxxxxxxxxx"));
  EXPECT_EQ(flood.last.then, Then::kClose);
  const Answered endless = Ask(RuleFor("header-flood"), Get(), 500);
  EXPECT_EQ(endless.last.then, Then::kMore);
  EXPECT_GT(endless.bytes.size(), 500'000U);
  EXPECT_EQ(endless.bytes.find("\r\n\r\n"), std::string::npos);
}

TEST(AnswerTest, AsksToComeLater) {
  const Answered later = Ask(RuleFor("retry-after", "delay = \"1500ms\""));
  EXPECT_EQ(later.status, 429);
  EXPECT_TRUE(later.Says("Retry-After: 2"));
  EXPECT_EQ(Ask(RuleFor("retry-after", "status = 503")).status, 503);
}

TEST(AnswerTest, FailsInBursts) {
  const Site site =
      MakeSite(RuleFor("burst", "period = \"60s\"\nlength = \"10s\""));
  auto status_at = [&](int second) {
    return Ask(site, Get(), 10, MonoTime(seconds(second))).status;
  };
  EXPECT_EQ(status_at(0), 503);
  EXPECT_EQ(status_at(9), 503);
  EXPECT_EQ(status_at(10), 200);
  EXPECT_EQ(status_at(59), 200);
  EXPECT_EQ(status_at(65), 503);
}

TEST(AnswerTest, SendsRobotsOfEveryKind) {
  const Answered own =
      Ask(RuleFor("robots", "text = \"User-agent: *\""), Get("/robots.txt"));
  EXPECT_EQ(own.body(), "User-agent: *");
  EXPECT_TRUE(own.Says("Content-Type: text/plain; charset=utf-8"));
  const Answered huge =
      Ask(RuleFor("huge-robots", "bytes = 600000"), Get("/robots.txt"));
  EXPECT_GE(huge.body().size(), 600'000U);
  EXPECT_EQ(Ask("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"",
                Get("/robots.txt"))
                .status,
            404);
}

TEST(AnswerTest, RefusesWhatIsNoRequest) {
  Exchange exchange;
  std::string out;
  EXPECT_EQ(Answerer::Refuse(RequestError::kBad, &exchange, &out).then,
            Then::kClose);
  EXPECT_EQ(exchange.status, 400);
  Answerer::Refuse(RequestError::kTooLong, &exchange, &out);
  EXPECT_EQ(exchange.status, 431);
}

TEST(AnswerTest, DripsTheHeadTooFromATarpit) {
  const Site site = MakeSite(RuleFor("tarpit", "delay = \"2s\"\nbytes = 80"));
  const Answered answered = Ask(site, Get(), 3);
  EXPECT_EQ(answered.waited, 3 * seconds(2));
  EXPECT_EQ(answered.bytes.size(), 240U);
  EXPECT_EQ(answered.last.then, Then::kWait);
  const Answered whole = Ask(site, Get());
  EXPECT_EQ(whole.last.then, Then::kKeep);
  EXPECT_GT(whole.body().size(), 4000U);
}

TEST(AnswerTest, RedirectsToTheHostOfTheSameNumberAndTheServersPort) {
  const Site site = MakeSite(
      "port = 8080\n[[rule]]\nhost = \"a*.example\"\npath = \"/*\"\n"
      "behaviour = \"redirect\"\n"
      "target = \"http://b{n}.example:{port}/robots.txt\"\n");
  const Answered answered = Ask(site, Get("/robots.txt", "a17.example"));
  EXPECT_TRUE(answered.Says("Location: http://b17.example:8080/robots.txt"))
      << answered.head();
}

TEST(AnswerTest, RedirectsFromHostToHostWithoutEnd) {
  const Site site = MakeSite(
      "[[rule]]\nhost = \"web*.example\"\nbehaviour = \"redirect-web\"\n"
      "hosts = 20\n");
  std::set<std::string> urls;
  std::set<std::string> hosts;
  std::string host = "web3.example";
  std::string path = "/";
  for (int i = 0; i < 200; ++i) {
    const Answered answered = Ask(site, Get(path, host));
    ASSERT_EQ(answered.status, 302);
    const std::string head = answered.head();
    constexpr std::string_view kBefore = "Location: http://";
    const size_t at = head.find(kBefore) + kBefore.size();
    const std::string url = head.substr(at, head.find('\r', at) - at);
    host = url.substr(0, url.find('/'));
    path = url.substr(url.find('/'));
    EXPECT_EQ(site.FindHost(host).kind, HostKind::kNamed) << host;
    EXPECT_TRUE(urls.insert(url).second) << url;
    hosts.insert(host);
  }
  EXPECT_EQ(hosts.size(), 20U);
}

size_t CountOf(std::string_view what, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(AnswerTest, SendsMoreLinksThanACrawlerShouldKeep) {
  const Site flood = MakeSite(RuleFor("link-flood", "count = 30"));
  EXPECT_EQ(CountOf("\r\nLink: </", Ask(flood, Get()).head()), 30U);
  EXPECT_NE(Ask(flood, Get("/a")).head(), Ask(flood, Get("/b")).head());

  const Site heavy = MakeSite(RuleFor("heavy-page"));
  const std::string page = Ask(heavy, Get()).body();
  EXPECT_EQ(CountOf("<a href=", page), 10'000U);
  const size_t base = page.find("<base href=\"") + 12;
  EXPECT_GE(page.find('"', base) - base, 2000U);

  const Site ports =
      MakeSite(RuleFor("port-links", "count = 500\nof = \"v.example\""));
  const std::string links = Ask(ports, Get()).body();
  EXPECT_EQ(CountOf("<a href=\"http://v.example:", links), 500U);
  EXPECT_NE(links.find("http://v.example:500/"), std::string::npos);
}

// The pages of the web itself: gzip only to who takes it, chunks only by 1.1.
TEST(AnswerTest, SendsPagesInTheCodingsThatTheyHave) {
  const Site site = MakeSite("");
  int chunked = 0;
  int gzipped = 0;
  for (uint64_t pld = 0; pld < 200; ++pld) {
    Request request = Get("/", "");
    site.web().AppendHostName({pld, 0}, &request.host);
    const Answered plain = Ask(site, request);
    ASSERT_EQ(plain.status, 200);
    EXPECT_EQ(plain.head().find("gzip"), std::string::npos);
    if (plain.Says("Transfer-Encoding: chunked")) {
      ++chunked;
      EXPECT_TRUE(plain.bytes.ends_with("\r\n0\r\n\r\n"));
      request.http11 = false;
      const Answered old = Ask(site, request);
      EXPECT_FALSE(old.Says("Transfer-Encoding: chunked"));
    }
    request.takes_gzip = true;
    const Answered packed = Ask(site, request);
    if (packed.Says("Content-Encoding: gzip") &&
        !packed.Says("Transfer-Encoding: chunked")) {
      ++gzipped;
      uint64_t bytes = 0;
      EXPECT_EQ(InflateResult(packed.body(), &bytes), Z_STREAM_END);
    }
  }
  EXPECT_NEAR(chunked, 40, 20);
  EXPECT_NEAR(gzipped, 26, 15);
}

}  // namespace
}  // namespace nephila::sim
