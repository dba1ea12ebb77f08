// The simulated web over real sockets.

#include "sim/http_server.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file_system.h"
#include "sim/answer.h"
#include "sim/politeness_check.h"
#include "sim/simulation.h"
#include "sim/socket_testing.h"

namespace nephila::sim {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void Start(const std::string& rules, size_t threads = 1) {
    auto scenario = ParseScenario(
        "[web]\nhosts = 100\nchunked_permille = 0\n" + rules, "s");
    ASSERT_TRUE(scenario) << scenario.error().message;
    SimulationOptions options;
    options.threads = threads;
    options.log = "log";
    auto simulation = Simulation::Start(*scenario, options, fs_, clock_);
    ASSERT_TRUE(simulation) << simulation.error().message;
    simulation_ = *std::move(simulation);
  }

  // Of the host t.example.
  void StartBehaviour(const std::string& behaviour,
                      const std::string& keys = "") {
    Start("[[rule]]\nhost = \"t.example\"\nbehaviour = \"" + behaviour +
          "\"\n" + keys + "\n");
  }

  Client Connect(const char* address = "127.1.0.1") const {
    return Client(address, simulation_->port());
  }

  static std::string Get(const std::string& path, bool close = false,
                         const std::string& host = "t.example") {
    return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" +
           (close ? "Connection: close\r\n" : "") + "\r\n";
  }

  std::string Log() {
    EXPECT_TRUE(simulation_->Stop());
    return *ReadWholeFile(fs_, "log", 1 << 20);
  }

  MemoryFileSystem fs_;
  RealClock clock_;
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(HttpServerTest, ServesThePageThatAnyoneCanCompute) {
  Start("");
  const PageId page{{5, 0}, 0};
  const Web& web = simulation_->site().web();
  std::string host;
  web.AppendHostName(page.host, &host);
  std::string expected;
  web.AppendPage(page, "", &expected);
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/", true, host)));
  const std::string answer = client.ReadAll();
  EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4), expected);
  // Its links lead back to this server.
  EXPECT_NE(expected.find(":" + std::to_string(simulation_->port()) + "/"),
            std::string::npos);
}

TEST_F(HttpServerTest, KeepsConnectionsAndTakesRequestsInARow) {
  StartBehaviour("page");
  Client client = Connect();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.Send(Get("/" + std::to_string(i))));
    EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 200 OK"));
  }
  // Several at once, in parts.
  const std::string three = Get("/a") + Get("/b") + Get("/c", true);
  for (size_t i = 0; i < three.size(); i += 30) {
    ASSERT_TRUE(client.Send(three.substr(i, 30)));
  }
  for (int i = 0; i < 3; ++i) EXPECT_NE(client.ReadAnswer(), "");
  EXPECT_EQ(client.Read(), "");
  EXPECT_EQ(simulation_->counts().connections, 1U);
  EXPECT_EQ(simulation_->counts().requests, 8U);
}

TEST_F(HttpServerTest, AnswersOnEveryLoopbackAddress) {
  StartBehaviour("page");
  for (const char* address : {"127.0.0.1", "127.1.0.1", "127.200.3.4"}) {
    Client client = Connect(address);
    ASSERT_TRUE(client.Send(Get("/", true)));
    EXPECT_NE(client.ReadAll(), "") << address;
  }
  const std::string log = Log();
  EXPECT_NE(log.find("127.200.3.4 t.example GET /\n"), std::string::npos);
}

TEST_F(HttpServerTest, ServesFromSeveralThreads) {
  Start("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"\n", 3);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Client client = Connect();
        if (client.Send(Get("/", true)) &&
            client.ReadAll().ends_with("</html>\n")) {
          ++good;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
  EXPECT_EQ(simulation_->counts().requests, 80U);
}

TEST_F(HttpServerTest, RefusesWhatIsNoRequest) {
  StartBehaviour("page");
  Client client = Connect();
  ASSERT_TRUE(client.Send("hello\r\n\r\n"));
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 400 "));
  Client flood = Connect();
  ASSERT_TRUE(flood.Send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x')));
  EXPECT_TRUE(flood.Read().starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, WaitsBeforeTheFirstByte) {
  StartBehaviour("slow-first-byte", "delay = \"30ms\"");
  Client client = Connect();
  const MonoTime begin = clock_.Now();
  ASSERT_TRUE(client.Send(Get("/", true)));
  EXPECT_TRUE(client.ReadAll().ends_with("</html>\n"));
  EXPECT_GE(clock_.Now() - begin, std::chrono::milliseconds(30));
}

TEST_F(HttpServerTest, DripsWithoutHoldingOthersUp) {
  StartBehaviour("slow-drip", "delay = \"2ms\"\nbytes = 4000");
  Client slow = Connect();
  ASSERT_TRUE(slow.Send(Get("/", true)));
  Client other = Connect();
  ASSERT_TRUE(other.Send(Get("/robots.txt", true)));
  EXPECT_TRUE(other.ReadAll().starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(slow.ReadAll().ends_with("</html>\n"));
}

TEST_F(HttpServerTest, NeverEndsABodyUntilTheClientLeaves) {
  StartBehaviour("endless-body");
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/")));
  size_t bytes = 0;
  while (bytes < 3'000'000) {
    const std::string part = client.Read();
    ASSERT_NE(part, "");
    bytes += part.size();
  }
  client.Close();
  // The server goes on with others.
  Client other = Connect();
  ASSERT_TRUE(other.Send(Get("/robots.txt", true)));
  EXPECT_NE(other.ReadAll(), "");
}

TEST_F(HttpServerTest, HoldsNoMoreThanOneAnswerForWhoDoesNotRead) {
  StartBehaviour("endless-body");
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_NE(client.Read(), "");
  // The system's buffers are full at some point, and then nothing is made.
  uint64_t before = 0;
  for (uint64_t now = 1; now != before;) {
    before = now;
    Client other = Connect();
    ASSERT_TRUE(other.Send(Get("/robots.txt", true)));
    ASSERT_NE(other.ReadAll(), "");
    now = simulation_->counts().bytes / 1'000'000;
  }
  EXPECT_LT(before, 50U);
}

TEST_F(HttpServerTest, DropsAndResets) {
  StartBehaviour("drop");
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/")));
  int error = 0;
  EXPECT_EQ(client.ReadAll(&error), "");
  EXPECT_EQ(error, 0);
  simulation_.reset();
  StartBehaviour("reset");
  Client other = Connect();
  ASSERT_TRUE(other.Send(Get("/")));
  EXPECT_EQ(other.ReadAll(&error), "");
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_NE(Log().find(" reset\n"), std::string::npos);
}

TEST_F(HttpServerTest, ClosesItsHalfAndStillListens) {
  StartBehaviour("half-close", "bytes = 10");
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/")));
  const std::string answer = client.ReadAll();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 10U);
  EXPECT_TRUE(client.Send("anything"));
}

TEST_F(HttpServerTest, HangsUntilTheClientLeaves) {
  StartBehaviour("hang");
  Client client = Connect();
  ASSERT_TRUE(client.Send(Get("/a")));
  // Its request has been read when that of another connection behind it is.
  Client other = Connect();
  ASSERT_TRUE(other.Send(Get("/robots.txt", true)));
  ASSERT_NE(other.ReadAll(), "");
  const std::string log = Log();
  EXPECT_NE(log.find(" t.example GET /a\n"), std::string::npos);
  EXPECT_NE(log.find(" 0 0 stopped\n"), std::string::npos);
}

TEST_F(HttpServerTest, DoesNotShareItsPortWithAnotherServer) {
  StartBehaviour("page");
  const auto taken = HttpServer::Reserve(simulation_->port());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().sys_errno, EADDRINUSE);
}

TEST_F(HttpServerTest, LogsWhatACheckCanJudge) {
  StartBehaviour("page");
  for (int i = 0; i < 3; ++i) {
    Client client = Connect();
    ASSERT_TRUE(client.Send(Get("/" + std::to_string(i))));
    ASSERT_NE(client.ReadAnswer(), "");
    ASSERT_TRUE(client.Send(Get("/", true)));
    ASSERT_NE(client.ReadAnswer(), "");
  }
  ASSERT_TRUE(simulation_->Stop());
  PolitenessRules rules;
  auto report = CheckPoliteness(fs_, "log", rules);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->requests, 6U);
  EXPECT_EQ(report->connections, 3U);
  EXPECT_EQ(report->violations, 0U);
  rules.host_delay = std::chrono::hours(1);
  EXPECT_EQ(CheckPoliteness(fs_, "log", rules)->violations, 5U);
}

}  // namespace
}  // namespace nephila::sim
