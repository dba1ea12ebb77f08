// The verbs that look at a job and steer it, on running and on stopped jobs.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "control/sockets.h"
#include "sim/socket_testing.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;
constexpr std::string_view kWeb = R"(
[web]
hosts = 40
plds = 15
addresses = 20
pages_per_host = 200
largest_site = 400
page_bytes = 2000
)";

class SteerCmdTest : public CrawlCmdTest {
 protected:
  // With delays, so that it takes long enough: twenty seconds, for the pages of
  // the largest site alone.
  pid_t StartCrawl(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"--profile",
                                     "broad",
                                     "--quiet",
                                     "--set",
                                     "politeness.host_delay=50ms",
                                     "--set",
                                     "politeness.host_delay_floor=50ms"};
    for (std::string& seed : Seeds(3)) args.push_back(std::move(seed));
    for (std::string& arg : more) args.push_back(std::move(arg));
    const pid_t process = Start(CrawlArgs(args));
    EXPECT_TRUE(WaitForRequests(web_->counts().requests + 30, process));
    return process;
  }
  Ended Verb(const std::string& verb, std::vector<std::string> words = {}) {
    std::vector<std::string> args = {verb, "--job", Job()};
    for (std::string& word : words) args.push_back(std::move(word));
    return Run(args);
  }
  Json Answer(const std::string& verb, std::vector<std::string> words = {}) {
    words.emplace_back("--json");
    const Ended ended = Verb(verb, std::move(words));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out, nullptr, /*allow_exceptions=*/false);
  }
  // Pauses the crawl, until nothing is in flight.
  void PauseWhole() {
    EXPECT_EQ(Verb("pause").code, 0);
    ASSERT_TRUE(StatusComes([](const Json& status) {
      return status["transfers"]["in_flight"] == 0;
    }));
  }
  Ended StopCrawl(pid_t process) {
    kill(process, SIGINT);
    Ended ended = Wait(process);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  void ExpectOneLine(const Ended& ended, int code, const std::string& part) {
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
  std::string TextOf(const std::string& name) const {
    std::ifstream file(Job() + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

TEST_F(SteerCmdTest, ARunningCrawlSaysHowItIs) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl();
  const Json status = JobStatus();
  EXPECT_EQ(status["state"], "running");
  EXPECT_EQ(status["process"], process);
  EXPECT_GT(status["pages"], 0);
  EXPECT_GT(status["hosts"]["in_memory"], 0);
  EXPECT_GT(status["memory"]["resident"], 0);
  EXPECT_GT(status["disk_space"]["used"], 0);
  EXPECT_GT(status["transfers"]["most"], 0);
  EXPECT_TRUE(status["budget"].is_object());
  EXPECT_TRUE(status["limit"].is_string());
  ExpectLaw(status, /*over=*/false);
  const Ended text = Verb("status");
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(text.out.starts_with("state        running\nlimit        "))
      << text.out;
  StopCrawl(process);
  const Json stopped = JobStatus();
  EXPECT_EQ(stopped["state"], "stopped");
  EXPECT_EQ(stopped["end"], "stopped");
  EXPECT_GT(stopped["checkpoint"]["number"], 0);
  EXPECT_TRUE(Verb("status").out.starts_with("state        stopped\n"));
}

TEST_F(SteerCmdTest, APauseHoldsUntilItIsResumed) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl();
  EXPECT_TRUE(Verb("pause").out.starts_with("paused; "));
  EXPECT_EQ(Verb("pause").out, "paused already\n");
  ASSERT_TRUE(StatusComes([](const Json& status) {
    return status["transfers"]["in_flight"] == 0;
  }));
  const uint64_t asked = web_->counts().requests;
  const Json status = JobStatus();
  EXPECT_EQ(status["state"], "paused");
  EXPECT_EQ(status["limit"], "paused");
  const uint64_t number = Answer("checkpoint")["checkpoint"];
  EXPECT_GT(Answer("checkpoint")["checkpoint"], number);
  EXPECT_EQ(web_->counts().requests, asked);
  EXPECT_EQ(Verb("resume").out, "going on\n");
  EXPECT_EQ(Verb("resume").out, "it was not paused\n");
  EXPECT_TRUE(WaitForRequests(asked + 30, process));
  StopCrawl(process);
  EXPECT_NE(TextOf("log").find(" info paused\n"), std::string::npos);
  EXPECT_NE(TextOf("log").find(" info resumed\n"), std::string::npos);
}

TEST_F(SteerCmdTest, ACheckpointIsWhatAKilledCrawlGoesOnFrom) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl({"--set", "crawl.checkpoint_interval=1h"});
  PauseWhole();
  // The last pages may still be on their way to be counted: if none came while
  // the checkpoint was made, it has all.
  uint64_t pages = 0;
  do {
    pages = JobStatus()["pages"];
    const Ended ended = Verb("checkpoint");
    ASSERT_TRUE(ended.out.starts_with("checkpoint ")) << ended.out;
  } while (JobStatus()["pages"] != pages);
  kill(process, SIGKILL);
  Wait(process);
  // Its socket is still there, and nobody behind it.
  EXPECT_TRUE(std::filesystem::exists(Job() + "/control"));
  const Json status = JobStatus();
  EXPECT_EQ(status["state"], "stopped");
  EXPECT_EQ(status["pages"], pages);
  EXPECT_EQ(Verb("pause").code, 1);
  // The next run is not paused, and has a socket of its own.
  const pid_t next = StartCrawl();
  EXPECT_EQ(JobStatus()["state"], "running");
  StopCrawl(next);
  EXPECT_FALSE(std::filesystem::exists(Job() + "/control"));
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
}

TEST_F(SteerCmdTest, SettingsChangeWhileItRunsAndAreKept) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl();
  ExpectOneLine(Verb("set", {"crawl.memory=2GiB"}), 2,
                "crawl.memory cannot change while the crawl runs; stop it and "
                "start it with --set");
  ExpectOneLine(Verb("set", {"politeness.host_dealy=1s"}), 2,
                "did you mean politeness.host_delay?");
  ExpectOneLine(Verb("set", {"crawl.max_pages=lots"}), 2, "crawl.max_pages");
  ExpectOneLine(Verb("set", {"politeness.site_delays=nonsense"}), 2,
                "nonsense");
  // None of them if one is wrong.
  ExpectOneLine(Verb("set", {"log.level=debug", "crawl.threads=2"}), 2,
                "crawl.threads");
  ExpectOneLine(Verb("set"), 2, "KEY=VALUE");
  EXPECT_EQ(JobStatus()["settings"], Json::object());
  const Ended ended =
      Verb("set", {"fetch.max_pages_per_second=1000", "log.level=debug"});
  EXPECT_EQ(ended.out,
            "fetch.max_pages_per_second = 1000; log.level = debug, from now "
            "on\n");
  PauseWhole();
  const uint64_t pages = JobStatus()["pages"];
  Verb("set", {fmt::format("crawl.max_pages={}", pages + 20)});
  Verb("resume");
  const Ended end = Wait(process);
  EXPECT_TRUE(end.out.starts_with("max-pages: ")) << end.out << end.err;
  const Json status = JobStatus();
  EXPECT_EQ(status["pages"], pages + 20);
  EXPECT_EQ(status["settings"]["fetch.max_pages_per_second"], "1000");
  // They hold at the next start, under what the user says there.
  Ended again = Run(CrawlArgs({"--quiet"}));
  EXPECT_TRUE(again.out.starts_with("max-pages: ")) << again.out;
  again =
      Run(CrawlArgs({"--quiet", "--max-pages", std::to_string(pages + 25)}));
  EXPECT_NE(again.out.find("(5 in this run)"), std::string::npos) << again.out;
}

TEST_F(SteerCmdTest, AStoppedJobKeepsWhatIsSetForItsNextRun) {
  Serve(std::string(kWeb));
  StopCrawl(StartCrawl());
  const uint64_t pages = JobStatus()["pages"];
  const Ended ended =
      Verb("set",
           {fmt::format("crawl.max_pages={}", pages + 10), "crawl.threads=1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("from the next start on"), std::string::npos);
  EXPECT_EQ(JobStatus()["settings"]["crawl.threads"], "1");
  ExpectOneLine(Verb("set", {"url.sort_query=true"}), 2,
                "was fixed when the job was made");
  ExpectOneLine(Verb("set", {"guard.allow=everything"}), 2, "guard.allow");
  const Ended run = Run(CrawlArgs({"--quiet"}));
  EXPECT_NE(run.out.find("(10 in this run)"), std::string::npos) << run.out;
}

TEST_F(SteerCmdTest, WithoutACrawlSomeVerbsHaveNothingToSteer) {
  for (const char* verb :
       {"status", "pause", "resume", "checkpoint", "retry"}) {
    ExpectOneLine(Verb(verb), 1, "there is no job");
  }
  ExpectOneLine(Verb("set", {"crawl.max_pages=1"}), 1, "there is no job");
  ExpectOneLine(Verb("block", {"a.org"}), 1, "there is no job");
  Serve(std::string(kWeb));
  StopCrawl(StartCrawl());
  for (const char* verb : {"pause", "resume", "checkpoint"}) {
    ExpectOneLine(Verb(verb), 1, "no crawl runs here");
  }
}

TEST_F(SteerCmdTest, AJobThatAnotherProcessHasIsInUse) {
  Serve(std::string(kWeb));
  StopCrawl(StartCrawl());
  const auto lock = fs_->Lock(Job() + "/lock");
  ASSERT_TRUE(lock);
  for (const char* verb : {"pause", "resume", "checkpoint", "retry"}) {
    ExpectOneLine(Verb(verb), 5, "is working on this job");
  }
  ExpectOneLine(Verb("set", {"crawl.max_pages=1"}), 5, "is working on this");
  ExpectOneLine(Verb("block", {"a.org"}), 5, "is working on this job");
  EXPECT_EQ(Verb("status").code, 0);
}

TEST_F(SteerCmdTest, BlockedHostsAreWrittenDownAndLeftAlone) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl();
  std::string host = Seeds(1)[0].substr(std::string("http://").size());
  host.resize(host.find(':'));
  EXPECT_EQ(Verb("block", {host}).code, 0);
  // What was under way to it when it was blocked may end.
  PauseWhole();
  Mark();
  EXPECT_EQ(Verb("resume").code, 0);
  EXPECT_TRUE(WaitForRequests(web_->counts().requests + 60, process));
  const std::vector<Request> requests = Requests();
  const auto mark = std::find_if(
      requests.begin(), requests.end(),
      [](const Request& request) { return request.host == "marker.example"; });
  ASSERT_NE(mark, requests.end());
  int before = 0;
  int after = 0;
  for (const Request& request : requests) {
    if (request.host != host) continue;
    ++(request.begin > mark->begin ? after : before);
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(after, 0);
  ExpectOneLine(Verb("block", {"address 300.1.2.3"}), 2, "300.1.2.3");
  EXPECT_EQ(Verb("block", {"www.example.org", "domain example.com"}).out,
            "blocked: host www.example.org; domain example.com, from now on\n");
  ExpectOneLine(Verb("block", {"planet mars"}), 2, "planet mars");
  ExpectOneLine(Verb("block"), 2, "block what?");
  StopCrawl(process);
  EXPECT_EQ(Verb("block", {"url http://a.org/x"}).out,
            "blocked: url http://a.org/x, from the next start on\n");
  EXPECT_EQ(TextOf("blocked"),
            "host " + host +
                "\nhost www.example.org\ndomain example.com\n"
                "url http://a.org/x\n");
}

constexpr std::string_view kBroken = R"(
[[rule]]
host = "t.example"
path = "/gone"
behaviour = "drop"
[[rule]]
host = "t.example"
path = "/"
behaviour = "status"
status = 200
type = "text/html"
text = "<a href=/gone>x</a><a href=/fine>y</a>"
[[rule]]
host = "t.example"
path = "/fine"
behaviour = "status"
status = 200
)";

TEST_F(SteerCmdTest, FailuresAreTriedAgainByTheNextRun) {
  Serve(std::string(kBroken));
  const std::vector<std::string> once = {"--quiet", "--set",
                                         "fetch.retry_attempts=1", "--set",
                                         "politeness.back_off=10ms"};
  std::vector<std::string> first = once;
  first.push_back(Url("t.example", "/"));
  ASSERT_EQ(Run(CrawlArgs(first)).code, 0);
  ASSERT_EQ(JobStatus()["failed"], 1) << JobStatus().dump();
  const auto times = [this] {
    int count = 0;
    for (const Request& request : Requests()) {
      if (request.path == "/gone") ++count;
    }
    return count;
  };
  EXPECT_EQ(times(), 1);
  ExpectOneLine(Verb("retry", {"--outcome", "sunny"}), 2,
                "'sunny' is no outcome of a failure");
  EXPECT_EQ(Verb("retry", {"--outcome", "timeout"}).code, 0);
  EXPECT_EQ(TextOf("commands"), "retry timeout\n");
  ASSERT_EQ(Run(CrawlArgs(once)).code, 0);
  EXPECT_EQ(times(), 1);
  EXPECT_FALSE(std::filesystem::exists(Job() + "/commands"));
  EXPECT_EQ(Verb("retry").code, 0);
  ASSERT_EQ(Run(CrawlArgs(once)).code, 0);
  EXPECT_EQ(times(), 2);
  const Json status = JobStatus();
  EXPECT_EQ(status["failed"], 2);
  ExpectLaw(status, /*over=*/true);
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
}

TEST_F(SteerCmdTest, FailuresAreTriedAgainByARunningCrawl) {
  // A page that never comes keeps the crawl from its end.
  Serve(std::string(kBroken) +
        "[[rule]]\nhost = \"slow.example\"\nbehaviour = \"hang\"\n");
  const pid_t process = Start(CrawlArgs(
      {"--quiet", "--set", "fetch.retry_attempts=1", "--set",
       "politeness.back_off=10ms", "--set", "fetch.first_byte_timeout=4m",
       Url("t.example", "/"), Url("slow.example", "/")}));
  ASSERT_TRUE(
      StatusComes([](const Json& status) { return status["failed"] == 1; }));
  const Ended ended = Verb("retry");
  EXPECT_EQ(ended.out,
            "of 1 URLs that failed, those that were meant are tried again\n")
      << ended.err;
  EXPECT_TRUE(
      StatusComes([](const Json& status) { return status["failed"] == 2; }));
  // Not the same twice: the system may make one of them.
  kill(process, SIGINT);
  kill(process, SIGTERM);
  Wait(process);
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
}

TEST_F(SteerCmdTest, TheSocketIsTheOwnersAndNobodyHoldsTheCrawl) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl();
  struct stat found {};
  ASSERT_EQ(stat((Job() + "/control").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  // Garbage, half a request, and many requests whose answers nobody reads.
  const auto client = [this] {
    auto socket = control::ConnectInFolder(Job(), "control");
    EXPECT_TRUE(socket) << socket.error().message;
    return *std::move(socket);
  };
  const auto garbage = client();
  const auto half = client();
  const auto deaf = client();
  const std::string noise = "\x01\xff{[[[\n\n\nGET / HTTP/1.1\r\n\r\n";
  EXPECT_GT(send(garbage.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  EXPECT_GT(send(half.get(), "{\"verb\":", 8, MSG_NOSIGNAL), 0);
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += "{\"verb\":\"status\"}\n";
  EXPECT_GT(send(deaf.get(), requests.data(), requests.size(), MSG_NOSIGNAL),
            0);
  const uint64_t asked = web_->counts().requests;
  EXPECT_TRUE(WaitForRequests(asked + 30, process));
  EXPECT_EQ(JobStatus()["state"], "running");
  StopCrawl(process);
}

TEST_F(SteerCmdTest, MetricsAreOnALoopbackPort) {
  Serve(std::string(kWeb));
  const pid_t process = StartCrawl({"--set", "control.http=127.0.0.1:0"});
  const std::string log = TextOf("log");
  const std::string before = "metrics and status on http://127.0.0.1:";
  const size_t at = log.find(before);
  ASSERT_NE(at, std::string::npos) << log;
  const auto port =
      static_cast<uint16_t>(std::stoi(log.substr(at + before.size())));
  const auto get = [port](const std::string& path) {
    const sim::Client client("127.0.0.1", port);
    EXPECT_TRUE(client.connected());
    client.Send("GET " + path + " HTTP/1.1\r\nHost: localhost:" +
                std::to_string(port) + "\r\n\r\n");
    const std::string answer = client.ReadAll();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
    return answer.substr(std::min(answer.find("\r\n\r\n") + 4, answer.size()));
  };
  const std::string metrics = get("/metrics");
  EXPECT_NE(metrics.find("\n# TYPE nephila_pages_total counter\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("\nnephila_state{state=\"running\"} 1\n"),
            std::string::npos);
  EXPECT_EQ(Json::parse(get("/status"), nullptr, false)["state"], "running");
  StopCrawl(process);
  ExpectOneLine(Run(CrawlArgs({"--set", "control.http=0.0.0.0:80"})), 3,
                "is not of this machine's loopback");
  ExpectOneLine(Run(CrawlArgs({"--set", "control.http=metrics"})), 3,
                "control.http");
}

TEST_F(SteerCmdTest, TheLogSaysHowItBeganAndEnded) {
  Serve(std::string(kWeb));
  StopCrawl(StartCrawl({"--set", "log.level=info"}));
  std::string log = TextOf("log");
  EXPECT_NE(log.find(" info nephila "), std::string::npos) << log;
  EXPECT_NE(log.find(" info setting politeness.host_delay = 50ms\n"),
            std::string::npos);
  EXPECT_NE(log.find(" info ends: stopped, "), std::string::npos);
  std::filesystem::remove(Job() + "/log");
  StopCrawl(StartCrawl({"--set", "log.level=error"}));
  EXPECT_EQ(TextOf("log"), "");
}

}  // namespace
}  // namespace nephila::cli
