#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "control/control_testing.h"
#include "control/http_request.h"
#include "control/http_server.h"
#include "control/sockets.h"

namespace nephila::control {
namespace {

net::Endpoint At(const std::string& address, uint16_t port) {
  return {*net::IpAddress::Parse(address), port};
}

int StatusFor(const std::string& head,
              const net::Endpoint& at = At("127.0.0.1", 9464)) {
  const auto request = ParseHttpRequest(head, at);
  return request.has_value() ? 200 : request.error();
}

int StatusForHost(const std::string& host, const net::Endpoint& at) {
  return StatusFor("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", at);
}

TEST(HttpRequestTest, ReadsWhatProgramsSay) {
  const net::Endpoint at = At("127.0.0.1", 9464);
  const auto request = ParseHttpRequest(
      "GET /metrics?x=1 HTTP/1.1\r\nHost: localhost:9464\r\nAccept: */*\r\n"
      "\r\n",
      at);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_FALSE(request->is_head);
  EXPECT_TRUE(ParseHttpRequest("HEAD / HTTP/1.0\nHost: localhost:9464\n\n", at)
                  ->is_head);
}

TEST(HttpRequestTest, RefusesTheRest) {
  const std::string host = "\r\nHost: 127.0.0.1:9464\r\n\r\n";
  EXPECT_EQ(StatusFor("GET / HTTP/1.1" + host), 200);
  EXPECT_EQ(StatusFor("POST / HTTP/1.1" + host), 405);
  EXPECT_EQ(StatusFor("GET / HTTP/2.0" + host), 505);
  for (const char* line :
       {"", "GET", "GET /", "GET  HTTP/1.1", "GET x HTTP/1.1",
        "GET /a b HTTP/1.1", "GET /\x7f HTTP/1.1", "/ GET HTTP/1.1 x",
        "GET / HTTQ/1.1", "GET http://127.0.0.1:9464/ HTTP/1.1"}) {
    EXPECT_EQ(StatusFor(line + host), 400) << line;
  }
  EXPECT_EQ(StatusFor("GET / HTTP/1.1\r\nHost\r\n\r\n"), 400);
  EXPECT_EQ(StatusFor("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400);
}

TEST(HttpRequestTest, RefusesARequestWithoutExactlyOneHost) {
  EXPECT_EQ(StatusFor("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusFor("GET / HTTP/1.0\r\n\r\n"), 400);
  EXPECT_EQ(StatusFor("GET / HTTP/1.0\r\nX-Host: localhost:9464\r\n\r\n"), 400);
  EXPECT_EQ(StatusFor("GET / HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nhost: "
                      "127.0.0.1:9464\r\n\r\n"),
            400);
}

TEST(HttpRequestTest, RefusesHostsThatAreNotExactlyItsOwn) {
  const net::Endpoint at = At("127.0.0.1", 9464);
  for (const char* host :
       {"evil.example", "evil.example:9464", "127.0.0.1.evil.example:9464",
        "localhost.evil.example:9464", "8.8.8.8:9464", "[::2]:9464", "",
        ":9464",
        // Another port, or none.
        "localhost", "127.0.0.1", "[::1]", "localhost:80", "localhost:9465",
        "127.0.0.1:946", "127.0.0.1:94640", "[::1]:80", "localhost:",
        "localhost:09464", "localhost:+9464", "localhost:9464:9464",
        // A trailing dot.
        "localhost.:9464", "127.0.0.1.:9464", "localhost:9464.",
        // Other spellings of the loopback.
        "127.1:9464", "127.1.2.3:9464", "2130706433:9464", "0.0.0.0:9464",
        "[::ffff:127.0.0.1]:9464", "::1:9464", "[0::1]:9464",
        "user@localhost:9464", "localhost:9464/",
        "localhost:9464, "
        "localhost:9464",
        "localhost :9464"}) {
    EXPECT_EQ(StatusForHost(host, at), 421) << host;
  }
  for (const char* host : {"localhost:9464", "LOCALHOST:9464", "127.0.0.1:9464",
                           "[::1]:9464", " localhost:9464 "}) {
    EXPECT_EQ(StatusForHost(host, at), 200) << host;
  }
}

TEST(HttpRequestTest, TheAddressThatItListensAtIsItsOwn) {
  EXPECT_EQ(StatusForHost("127.0.0.7:9464", At("127.0.0.7", 9464)), 200);
  EXPECT_EQ(StatusForHost("127.0.0.8:9464", At("127.0.0.7", 9464)), 421);
  EXPECT_EQ(StatusForHost("[::1]:9464", At("::1", 9464)), 200);
  EXPECT_EQ(StatusForHost("::1:9464", At("::1", 9464)), 421);
  // Clients leave out the default port.
  EXPECT_EQ(StatusForHost("localhost", At("127.0.0.1", 80)), 200);
  EXPECT_EQ(StatusForHost("localhost:80", At("127.0.0.1", 80)), 200);
  EXPECT_EQ(StatusForHost("localhost:9464", At("127.0.0.1", 80)), 421);
}

TEST(HttpRequestTest, AHeadEndsWithAnEmptyLine) {
  EXPECT_EQ(HttpHeadSize("GET / HTTP/1.1\r\nA: b\r\n"), 0U);
  EXPECT_EQ(HttpHeadSize("a\r\n\r\nrest"), 5U);
  EXPECT_EQ(HttpHeadSize("a\n\nrest"), 3U);
  EXPECT_EQ(HttpHeadSize("\r\n\r\n"), 4U);
}

TEST(LoopbackTest, OnlyThisMachinesLoopbackIsTaken) {
  EXPECT_EQ(ParseLoopback("9464")->ToString(), "127.0.0.1:9464");
  EXPECT_EQ(ParseLoopback("127.0.0.2:80")->ToString(), "127.0.0.2:80");
  EXPECT_EQ(ParseLoopback("[::1]:80")->ToString(), "[::1]:80");
  for (const char* text :
       {"0.0.0.0:80", "192.168.1.1:80", "[::]:80", "localhost:80", "x", "",
        "70000", "127.0.0.1", "127.0.0.1:", "[::ffff:127.0.0.1]:80"}) {
    const auto endpoint = ParseLoopback(text);
    EXPECT_FALSE(endpoint) << text;
    if (endpoint) continue;
    EXPECT_EQ(endpoint.error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(endpoint.error().message.starts_with("control.http: "));
  }
}

class HttpServerTest : public LoopTest {
 protected:
  void Open() {
    auto server = HttpServer::Open(*loop_, *ParseLoopback("0"));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    server_->Add(
        "/now", "text/plain",
        [](const std::function<void(std::string)>& done) { done("hello\n"); });
    server_->Add("/later", "application/json",
                 [this](const std::function<void(std::string)>& done) {
                   loop_->Post([done] { done("{}"); });
                 });
    Run();
  }
  void TearDown() override {
    Stop();
    server_.reset();
    LoopTest::TearDown();
  }
  PlainClient Connect() {
    sockaddr_storage address{};
    const net::Endpoint& at = server_->endpoint();
    const socklen_t size = at.address.ToSockaddr(at.port, &address);
    net::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(
        connect(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    return PlainClient(std::move(socket));
  }
  std::string Get(const std::string& bytes) {
    PlainClient client = Connect();
    EXPECT_TRUE(client.Send(bytes));
    return client.ToTheEnd();
  }
  // The end of a head: the Host field of this server and an empty line.
  std::string Host() const {
    return "\r\nHost: " + server_->endpoint().ToString() + "\r\n\r\n";
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersWithAPageAndEnds) {
  Open();
  const std::string answer = Get("GET /now HTTP/1.1" + Host());
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Length: 6\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhello\n"));
  EXPECT_TRUE(Get("GET /later HTTP/1.0" + Host()).ends_with("\r\n\r\n{}"));
  const std::string head = Get("HEAD /now HTTP/1.0" + Host());
  EXPECT_NE(head.find("Content-Length: 6\r\n"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, RefusesInTheWordsOfHttp) {
  Open();
  EXPECT_TRUE(Get("GET /x HTTP/1.0" + Host()).starts_with("HTTP/1.1 404 "));
  const std::string post = Get("POST /now HTTP/1.0" + Host());
  EXPECT_TRUE(post.starts_with("HTTP/1.1 405 "));
  EXPECT_NE(post.find("Allow: GET, HEAD\r\n"), std::string::npos);
  EXPECT_TRUE(Get("\x16\x03\x01 garbage\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(Get("GET / HTTP/1.1\r\nX: " + std::string(9000, 'x'))
                  .starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(Get("GET /now HTTP/1.0" + Host()).starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, RefusesRequestsForAnotherHost) {
  Open();
  const std::string port = std::to_string(server_->endpoint().port);
  const auto get = [this](const std::string& host) {
    return Get("GET /now HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  EXPECT_TRUE(get("localhost:" + port).starts_with("HTTP/1.1 200 "));
  for (const std::string& host :
       {"rebound.example:" + port, std::string("localhost"),
        "localhost.:" + port}) {
    const std::string answer = get(host);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 421 ")) << host << answer;
    EXPECT_EQ(answer.find("hello"), std::string::npos);
  }
  EXPECT_TRUE(Get("GET /now HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, HalfARequestIsNoneAndHoldsNobody) {
  Open();
  const PlainClient half = Connect();
  ASSERT_TRUE(half.Send("GET /now HTT"));
  EXPECT_TRUE(Get("GET /now HTTP/1.0" + Host()).starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, OneClientTooManyIsToldSo) {
  Open();
  std::vector<PlainClient> many;
  for (int i = 0; i < 8; ++i) {
    many.push_back(Connect());
    // Accepted, in this order.
    ASSERT_TRUE(many.back().Send("G"));
  }
  EXPECT_TRUE(Connect().ToTheEnd().starts_with("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace nephila::control
