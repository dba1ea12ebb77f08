// Against the simulated web: real sockets, real DNS.
#include "cli/fetch_cmd.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "cli/warc_cmd.h"
#include "sim/politeness_check.h"
#include "sim/simulation.h"
#include "sim/socket_testing.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;

class FetchCmdTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("fetch_cmd_{}_{}", getpid(), counter_++);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Starts a web with these rules.
  void Serve(std::string_view rules) {
    auto scenario = sim::ParseScenario(rules, "rules");
    ASSERT_TRUE(scenario) << scenario.error().message;
    sim::SimulationOptions options;
    options.log = Log();
    auto started =
        sim::Simulation::Start(*std::move(scenario), options, *fs_, clock_);
    ASSERT_TRUE(started) << started.error().message;
    web_ = *std::move(started);
    setup_.settings.agent.contact = "https://example.org/bot";
    setup_.settings.dns.servers = {
        fmt::format("127.0.0.1:{}", web_->dns_port())};
    setup_.settings.guard.allow = {"127.0.0.0/8"};
    setup_.settings.politeness.host_delay = std::chrono::milliseconds(30);
    setup_.settings.politeness.server_delay = std::chrono::milliseconds(10);
  }

  std::string Url(std::string_view host, std::string_view path) const {
    return fmt::format("http://{}:{}{}", host, web_->port(), path);
  }
  std::string Log() const { return folder_ / "requests.log"; }

  // What happened, by URL.
  std::map<std::string, Json> Fetch(std::vector<std::string> urls,
                                    FetchCmdOptions options = {}) {
    options.urls = std::move(urls);
    std::istringstream in;
    std::ostringstream out;
    const Status status = RunFetch(setup_, options, in, out);
    error_ = status ? "" : status.error().message;
    std::map<std::string, Json> fetched;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) {
      Json json = Json::parse(line);
      fetched[json["url"]] = json;
    }
    return fetched;
  }

  void ExpectPolite() {
    ASSERT_TRUE(web_->FlushLog());
    sim::PolitenessRules rules;
    rules.host_delay = setup_.settings.politeness.host_delay;
    rules.server_delay = setup_.settings.politeness.server_delay;
    auto report = sim::CheckPoliteness(*fs_, Log(), rules);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->violations, 0U);
    for (const sim::Violation& violation : report->first) {
      ADD_FAILURE() << violation.line << ": " << violation.what;
    }
  }

  static inline int counter_ = 0;
  std::filesystem::path folder_;
  std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
  RealClock clock_;
  cli::Setup setup_{{}, url::PublicSuffixList::BuiltIn()};
  std::unique_ptr<sim::Simulation> web_;
  std::string error_;
};

constexpr std::string_view kRules = R"(
[[rule]]
host = "closed.example"
path = "/robots.txt"
behaviour = "status"
status = 200
type = "text/plain"
text = "User-agent: nephila\nDisallow: /private\nAllow: /\n"
[[rule]]
host = "broken.example"
path = "/robots.txt"
behaviour = "status"
status = 503
[[rule]]
host = "moved.example"
path = "/old"
behaviour = "redirect"
target = "/new"
[[rule]]
host = "moved.example"
path = "/private"
behaviour = "redirect"
target = "http://closed.example/private"
[[rule]]
host = "gone.example"
behaviour = "status"
status = 404
[[rule]]
host = "slowly.example"
path = "/robots.txt"
behaviour = "status"
status = 200
type = "text/plain"
text = "User-agent: *\nCrawl-delay: 0.2\n"
[[rule]]
host = "later.example"
path = "/busy"
behaviour = "retry-after"
status = 503
delay = "1s"
)";

TEST_F(FetchCmdTest, TellsWhatHappened) {
  Serve(kRules);
  auto fetched =
      Fetch({Url("closed.example", "/a"), Url("closed.example", "/private/b"),
             Url("broken.example", "/"), Url("gone.example", "/x"),
             "http://nowhere.invalid/"});
  EXPECT_EQ(error_, "");
  ASSERT_EQ(fetched.size(), 5U);

  const Json& page = fetched[Url("closed.example", "/a")];
  EXPECT_EQ(page["outcome"], "response");
  EXPECT_EQ(page["status"], 200);
  EXPECT_EQ(page["type"], "text/html");
  EXPECT_EQ(page["protocol"], Json::array({"http/1.1"}));
  EXPECT_TRUE(page["robots"]["allowed"]);
  EXPECT_EQ(page["robots"]["rule"], "Allow: /");
  EXPECT_TRUE(std::string(page["address"]).starts_with("127."));
  EXPECT_GE(page["links"], 1);
  EXPECT_GT(page["bytes"]["content"], 1000);
  EXPECT_GT(page["times"]["total"], 0.0);

  const Json& denied = fetched[Url("closed.example", "/private/b")];
  EXPECT_EQ(denied["outcome"], "robots-denied");
  EXPECT_EQ(denied["robots"]["rule"], "Disallow: /private");
  EXPECT_EQ(denied["robots"]["line"], 2);
  EXPECT_FALSE(denied.contains("status"));
  const Json& unreachable = fetched[Url("broken.example", "/")];
  EXPECT_EQ(unreachable["outcome"], "robots-unreachable");
  EXPECT_EQ(unreachable["robots"]["status"], 503);
  EXPECT_EQ(fetched[Url("gone.example", "/x")]["status"], 404);
  const Json& nowhere = fetched["http://nowhere.invalid/"];
  EXPECT_EQ(nowhere["outcome"], "robots-unreachable");
  EXPECT_EQ(nowhere["robots"]["outcome"], "no-such-host");
  EXPECT_EQ(nowhere["robots"]["error"], "no-such-name");
  ExpectPolite();
}

TEST_F(FetchCmdTest, DoesNotFollowARedirectUnasked) {
  Serve(kRules);
  auto fetched = Fetch({Url("moved.example", "/old")});
  ASSERT_EQ(fetched.size(), 1U);
  EXPECT_EQ(fetched.begin()->second["status"], 301);
  EXPECT_EQ(fetched.begin()->second["location"], Url("moved.example", "/new"));
}

// One call of fetch for each log: the next one knows nothing of the waits of
// the one before.
TEST_F(FetchCmdTest, FollowsRedirectsAsOftenAsItIsTold) {
  Serve(kRules);
  FetchCmdOptions options;
  options.redirects = 1;
  auto fetched = Fetch({Url("moved.example", "/old")}, options);
  ASSERT_EQ(fetched.size(), 2U);
  const Json& target = fetched[Url("moved.example", "/new")];
  EXPECT_EQ(target["status"], 200);
  EXPECT_EQ(target["via"], Url("moved.example", "/old"));
  ExpectPolite();
}

TEST_F(FetchCmdTest, IsPoliteToHostsAndToServersThatManyHostsShare) {
  Serve(kRules);
  std::vector<std::string> urls;
  for (int i = 0; i < 5; ++i) {
    urls.push_back(Url("closed.example", fmt::format("/p{}", i)));
    urls.push_back(Url("moved.example", fmt::format("/p{}", i)));
  }
  auto fetched = Fetch(urls);
  EXPECT_EQ(fetched.size(), 10U);
  for (const auto& [url, json] : fetched) EXPECT_EQ(json["status"], 200) << url;
  ExpectPolite();
}

TEST_F(FetchCmdTest, WaitsAsLongAsASiteAsksFor) {
  Serve(kRules);
  auto fetched =
      Fetch({Url("slowly.example", "/a"), Url("slowly.example", "/b"),
             Url("slowly.example", "/c")});
  for (const auto& [url, json] : fetched) EXPECT_EQ(json["status"], 200) << url;
  setup_.settings.politeness.host_delay = std::chrono::milliseconds(200);
  ExpectPolite();
}

TEST_F(FetchCmdTest, ComesBackAfterRetryAfter) {
  Serve(kRules);
  setup_.settings.politeness.back_off = {};
  auto begin = clock_.Now();
  auto fetched =
      Fetch({Url("later.example", "/busy"), Url("later.example", "/b")});
  EXPECT_EQ(fetched[Url("later.example", "/busy")]["status"], 503);
  EXPECT_EQ(fetched[Url("later.example", "/b")]["status"], 200);
  EXPECT_GE(clock_.Now() - begin, std::chrono::seconds(1));
}

TEST_F(FetchCmdTest, ArchivesAllThatItAskedFor) {
  Serve(kRules);
  FetchCmdOptions options;
  options.warc = folder_ / "archive";
  auto fetched = Fetch({Url("closed.example", "/a")}, options);
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(
      std::string(fetched.begin()->second["record"]).starts_with("urn:uuid:"));
  std::vector<std::string> targets;
  for (const auto& entry : std::filesystem::directory_iterator(options.warc)) {
    if (!entry.path().string().ends_with(".warc.gz")) continue;
    std::ostringstream out;
    EXPECT_TRUE(RunWarcVerify(*fs_, {.files = {entry.path()}}, out))
        << out.str();
    std::ostringstream list;
    EXPECT_TRUE(RunWarcLs(*fs_, {.files = {entry.path()}, .json = true}, list));
    std::istringstream lines(list.str());
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line);
      if (!record.contains("uri")) continue;
      targets.push_back(fmt::format("{} {}", std::string(record["type"]),
                                    std::string(record["uri"])));
    }
  }
  auto count = [&targets](const std::string& what) {
    return std::count(targets.begin(), targets.end(), what);
  };
  EXPECT_EQ(count("resource dns:closed.example"), 1);
  EXPECT_EQ(count("response " + Url("closed.example", "/robots.txt")), 1);
  EXPECT_EQ(count("request " + Url("closed.example", "/a")), 1);
  EXPECT_EQ(count("response " + Url("closed.example", "/a")), 1);
  // It is not written over.
  Fetch({Url("closed.example", "/a")}, options);
  EXPECT_NE(error_.find("holds an archive already"), std::string::npos);
}

// The block of the one record of this type and URL.
std::string BlockOf(FileSystem& fs, const std::string& folder,
                    const std::string& type, const std::string& url) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".warc.gz")) continue;
    std::ostringstream list;
    if (!RunWarcLs(fs, {.files = {entry.path()}, .json = true}, list)) continue;
    std::istringstream lines(list.str());
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line);
      if (record["type"] != type || record.value("uri", "") != url) continue;
      std::ostringstream out;
      WarcCatOptions cat;
      cat.files = {entry.path()};
      cat.offset = record["offset"].get<uint64_t>();
      if (!RunWarcCat(fs, cat, out)) return "";
      std::string text = out.str();
      text.erase(0, text.find("\r\n\r\n") + 4);  // the record's header
      text.resize(record["block_length"].get<size_t>());
      return text;
    }
  }
  return "";
}

// Whatever the coding: the request is sent again as it stands in the archive,
// and what comes is compared with what stands there.
TEST_F(FetchCmdTest, ArchivesEveryByteAsItWasSent) {
  Serve("[web]\ngzip_permille = 500\nchunked_permille = 500\n");
  FetchCmdOptions options;
  options.warc = folder_ / "archive";
  std::vector<std::string> urls;
  const sim::Web& pages = web_->site().web();
  for (uint64_t pld = 0; pld < 12; ++pld) {
    std::string url;
    pages.AppendUrl({{pld, 0}, 0}, &url);
    urls.push_back(url);
  }
  auto fetched = Fetch(urls, options);
  EXPECT_EQ(error_, "");
  size_t compared = 0;
  size_t coded = 0;
  for (const auto& [url, json] : fetched) {
    if (json["outcome"] != "response") continue;
    std::string request = BlockOf(*fs_, options.warc, "request", url);
    std::string response = BlockOf(*fs_, options.warc, "response", url);
    ASSERT_FALSE(request.empty()) << url;
    const std::string address = json["address"];
    sim::Client client(address.c_str(), web_->port());
    ASSERT_TRUE(client.connected());
    // So that the end of the answer is seen.
    size_t connection = request.find("Connection: close");
    if (connection == std::string::npos) {
      request.insert(request.find("\r\n") + 2, "Connection: close\r\n");
    }
    ASSERT_TRUE(client.Send(request));
    std::string sent = client.ReadAll();
    // The server says how it goes on with the connection, no more.
    auto without = [](std::string text) {
      size_t at = text.find("Connection: ");
      if (at != std::string::npos) text.erase(at, text.find("\n", at) + 1 - at);
      return text;
    };
    EXPECT_EQ(without(response), without(sent)) << url;
    ++compared;
    coded += sent.find("gzip") != std::string::npos ||
             sent.find("chunked") != std::string::npos;
  }
  EXPECT_GE(compared, 8U);
  EXPECT_GE(coded, 1U);
}

TEST_F(FetchCmdTest, RefusesPrivateAddressesAndWhatIsNoUrlOfTheWeb) {
  Serve(kRules);
  setup_.settings.guard.allow = {};
  auto fetched = Fetch({Url("closed.example", "/a"), Url("127.0.0.1", "/")});
  ASSERT_EQ(fetched.size(), 2U);
  for (const auto& [url, json] : fetched) {
    EXPECT_EQ(json["outcome"], "robots-unreachable") << url;
    EXPECT_EQ(json["robots"]["outcome"], "address-refused") << url;
  }
  EXPECT_EQ(web_->counts().requests, 0U);
  Fetch({"ftp://closed.example/"});
  EXPECT_EQ(error_, "ftp://closed.example/: not an http or https URL");
  Fetch({"http://closed.example:25/"});
  EXPECT_EQ(error_,
            "http://closed.example:25/: port 25 belongs to another protocol "
            "than HTTP; url.allow_ports=25 allows it");
}

}  // namespace
}  // namespace nephila::cli
