#include "cli/crawl_cmd_testing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <fstream>
#include <sstream>
#include <utility>

#include "sim/socket_testing.h"
#include "store/warc_reader.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;
using sim::Behaviour;
using sim::Layer;
std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// http://host:port/path.
struct UrlParts {
  std::string host;
  std::string path;
};
UrlParts PartsOf(std::string_view url) {
  url.remove_prefix(std::string_view("http://").size());
  const size_t slash = url.find('/');
  const std::string_view authority = url.substr(0, slash);
  return {std::string(authority.substr(0, authority.find(':'))),
          std::string(url.substr(slash))};
}

// The prefixes that a robots.txt of the simulated web closes for us.
std::vector<std::string> ClosedBy(const std::string& robots) {
  std::vector<std::string> closed;
  std::istringstream lines(robots);
  bool for_us = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("User-agent: ")) {
      for_us = line == "User-agent: *" || line == "User-agent: nephila";
    } else if (for_us && line.starts_with("Disallow: ")) {
      closed.push_back(line.substr(std::string("Disallow: ").size()));
    }
  }
  return closed;
}

// Whether there was one.
bool ReplaceAll(std::string_view what, const std::string& by,
                std::string* text) {
  bool found = false;
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
    found = true;
  }
  return found;
}

// One that nobody has: rules that redirect to other hosts name it. While this
// lives the system gives it to nobody who asks for any; who asks for this one,
// with SO_REUSEADDR, gets it.
class FreePort {
 public:
  FreePort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof(any);
    auto* const name = reinterpret_cast<sockaddr*>(&any);
    if (setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ==
            0 &&
        bind(socket_.get(), name, size) == 0 &&
        getsockname(socket_.get(), name, &size) == 0) {
      number_ = ntohs(any.sin_port);
    }
  }
  uint16_t number() const { return number_; }

 private:
  const sim::Descriptor socket_;
  uint16_t number_ = 0;
};

}  // namespace

void CrawlCmdTest::SetUp() {
  folder_ = std::filesystem::path(testing::TempDir()) /
            fmt::format("crawl_cmd_{}_{}", getpid(), counter_++);
  std::filesystem::create_directories(folder_);
}

void CrawlCmdTest::TearDown() {
  for (const auto& [process, output] : running_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  web_.reset();
  std::filesystem::remove_all(folder_);
}

void CrawlCmdTest::Serve(std::string rules) {
  sim::SimulationOptions options;
  const FreePort port;  // until the web has it
  options.port = port.number();
  const FreePort more;
  if (ReplaceAll("@MORE@", std::to_string(more.number()), &rules)) {
    options.more_ports = {more.number()};
  }
  ReplaceAll("@PORT@", std::to_string(options.port), &rules);
  rules += fmt::format("\n[[rule]]\nhost = \"{}\"\nbehaviour = \"status\"\n",
                       kMarker);
  auto scenario = sim::ParseScenario(rules, "rules");
  ASSERT_TRUE(scenario) << scenario.error().message;
  options.log = Log();
  auto started =
      sim::Simulation::Start(*std::move(scenario), options, *fs_, clock_);
  ASSERT_TRUE(started) << started.error().message;
  web_ = *std::move(started);
}

std::string CrawlCmdTest::Url(std::string_view host,
                              std::string_view path) const {
  return fmt::format("http://{}:{}{}", host, web_->port(), path);
}

std::vector<std::string> CrawlCmdTest::Seeds(size_t count) const {
  const sim::Web& web = web_->site().web();
  std::vector<std::string> seeds(count);
  for (size_t i = 0; i < count; ++i) {
    web.AppendUrl({{i % web.pld_count(), 0}, 0}, &seeds[i]);
  }
  return seeds;
}

std::vector<std::string> CrawlCmdTest::AllHosts() const {
  const sim::Web& web = web_->site().web();
  std::vector<std::string> seeds;
  for (uint64_t pld = 0; pld < web.pld_count(); ++pld) {
    for (uint64_t host = 0; host < web.HostsOf(pld); ++host) {
      web.AppendUrl({{pld, host}, 0}, &seeds.emplace_back());
    }
  }
  return seeds;
}

std::string CrawlCmdTest::SeedFile(
    const std::vector<std::string>& seeds) const {
  std::string path = Folder("seed_file.txt");
  std::ofstream file(path);
  for (const std::string& seed : seeds) file << seed << '\n';
  return path;
}

std::vector<std::string> CrawlCmdTest::NoDelays() {
  return {"--set", "politeness.host_delay=0s",
          "--set", "politeness.host_delay_floor=0s",
          "--set", "politeness.server_delay=0s",
          "--set", "politeness.server_delay_floor=0s",
          "--set", "politeness.domain_delay=0s"};
}

std::vector<std::string> CrawlCmdTest::CrawlArgs(
    std::vector<std::string> args) const {
  std::vector<std::string> all = {"crawl", "--job", Job(), "--set",
                                  "agent.contact=https://example.org/bot",
                                  // Tests need little, wherever they run.
                                  "--set", "disk.floor=0"};
  if (web_ != nullptr) {
    all.insert(
        all.end(),
        {"--set", fmt::format("dns.servers=127.0.0.1:{}", web_->dns_port()),
         "--set", "guard.allow=127.0.0.0/8"});
  }
  for (std::string& arg : NoDelays()) all.push_back(std::move(arg));
  for (std::string& arg : args) all.push_back(std::move(arg));
  return all;
}

pid_t CrawlCmdTest::Start(const std::vector<std::string>& args) {
  const std::string output = Folder(fmt::format("run{}", runs_++));
  const std::string out = output + ".out";
  const std::string err = output + ".err";
  std::vector<char*> words;
  std::string program = program_.empty() ? NEPHILA_BINARY : program_;
  words.push_back(program.data());
  std::vector<std::string> copies = args;
  for (std::string& arg : copies) words.push_back(arg.data());
  words.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    // Only what may be called between fork and exec.
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    if (open_files_ > 0) {
      // Also the hard one, to which the program raises its own. Descriptors of
      // this process are closed by exec.
      const rlimit limit{open_files_, open_files_};
      if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(126);
    }
    execv(words[0], words.data());
    _exit(127);
  }
  running_[process] = output;
  return process;
}

std::string CrawlCmdTest::ErrOf(pid_t process) const {
  return ReadFile(running_.at(process) + ".err");
}

Ended CrawlCmdTest::Wait(pid_t process) {
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(process, &status, 0, &usage), process);
  Ended ended;
  ended.wakings = usage.ru_nvcsw + usage.ru_nivcsw;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  const std::string output = running_.extract(process).mapped();
  ended.out = ReadFile(output + ".out");
  ended.err = ReadFile(output + ".err");
  return ended;
}

Ended CrawlCmdTest::Run(const std::vector<std::string>& args) {
  return Wait(Start(args));
}

bool CrawlCmdTest::WaitForRequests(uint64_t count, pid_t process) {
  const MonoTime deadline = clock_.Now() + kPatience;
  const sim::Descriptor end(
      static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  while (web_->counts().requests < count) {
    // Readable when the process has ended.
    pollfd poll_end{end.get(), POLLIN, 0};
    if (poll(&poll_end, 1, /*timeout=*/1) != 0 || clock_.Now() > deadline) {
      return false;
    }
  }
  return true;
}

bool CrawlCmdTest::StatusComes(const std::function<bool(const Json&)>& wanted) {
  const MonoTime deadline = clock_.Now() + kPatience;
  while (clock_.Now() < deadline) {
    const Ended ended = Run({"status", "--job", Job(), "--json"});
    // At its start it has no checkpoint yet, and nobody to ask.
    if (ended.code != 0) continue;
    if (wanted(Json::parse(ended.out, nullptr, false))) return true;
  }
  return false;
}

Json CrawlCmdTest::JobStatus() {
  const Ended ended = Run({"status", "--job", Job(), "--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out, nullptr, /*allow_exceptions=*/false);
}

void CrawlCmdTest::ExpectLaw(const Json& status, bool over) {
  ASSERT_TRUE(status.is_object());
  std::map<std::string, Json> stages = status["stages"];
  const auto get = [&stages](const char* stage, const char* what) {
    return stages[stage].value(what, int64_t{0});
  };
  for (const auto& [name, stage] : stages) {
    int64_t dropped = 0;
    for (const auto& [reason, count] : stage["dropped"].items()) {
      dropped += count.get<int64_t>();
    }
    EXPECT_EQ(get(name.c_str(), "in") + get(name.c_str(), "made"),
              get(name.c_str(), "out") + get(name.c_str(), "held") + dropped)
        << name << ": " << stage.dump();
    if (over) {
      EXPECT_EQ(get(name.c_str(), "held"), 0) << name;
    }
  }
  EXPECT_EQ(get("url", "in"), get("seeds", "out") + get("parse", "out"));
  EXPECT_EQ(get("scope", "in"), get("url", "out"));
  EXPECT_EQ(get("seen", "in"), get("scope", "out"));
  EXPECT_EQ(get("politeness", "in"), get("robots", "out"));
  EXPECT_EQ(get("store", "in"), get("fetch", "out"));
  EXPECT_EQ(get("store", "out"), get("fetch", "out"));
  if (!over) return;
  const char* const before = stages.contains("caps") ? "caps" : "seen";
  EXPECT_EQ(get("budget", "in"), get(before, "out"));
  if (stages.contains("caps")) {
    EXPECT_EQ(get("caps", "in"), get("seen", "out"));
  }
  // What is parked goes through robots again.
  EXPECT_EQ(get("politeness", "out") - get("fetch", "in"),
            get("robots", "in") - get("budget", "out"));
  EXPECT_EQ(status["waiting"], 0);
  EXPECT_EQ(status["end"], "finished");
}

bool CrawlCmdTest::IsDenied(const std::string& host,
                            std::string_view path) const {
  const sim::Site& site = web_->site();
  const sim::Rule* rule =
      site.scenario().Find(Layer::kHttp, host, "/robots.txt");
  std::string robots;
  if (rule != nullptr) {
    // Unreachable is closed (RFC 9309 s2.3.1.4); 4xx is open (s2.3.1.3).
    if (rule->behaviour != Behaviour::kRobots) return rule->status / 100 != 4;
    robots = rule->text;
  } else if (const auto id = site.web().FindHost(host);
             id && site.web().HasRobots(*id)) {
    site.web().AppendRobots(*id, &robots);
  }
  for (const std::string& prefix : ClosedBy(robots)) {
    if (path.starts_with(prefix)) return true;
  }
  return false;
}

CrawlCmdTest::Expected CrawlCmdTest::Expect(const std::string& url,
                                            int attempts) const {
  const sim::Site& site = web_->site();
  const auto [host, path] = PartsOf(url);
  Expected expected;
  if (site.scenario().Find(Layer::kDns, host, path) != nullptr ||
      site.FindHost(host).kind == sim::HostKind::kNone ||
      IsDenied(host, path)) {
    return expected;
  }
  expected.count = 1;
  const sim::Rule* rule = site.scenario().Find(Layer::kHttp, host, path);
  if (rule != nullptr) {
    switch (rule->behaviour) {
      case Behaviour::kStatus:
        if (rule->status / 100 == 5) expected.count = attempts;
        if (rule->text.starts_with("http://")) {
          expected.links.push_back(rule->text);
        }
        return expected;
      case Behaviour::kRedirect:
        expected.links.push_back(rule->target.starts_with('/')
                                     ? Url(host, rule->target)
                                     : rule->target);
        return expected;
      case Behaviour::kDrop:
      case Behaviour::kHang:
      case Behaviour::kReset:
        expected.count = 0;
        return expected;
      default:
        break;
    }
  }
  const auto id = site.web().FindHost(host);
  if (!id) {
    expected.links.push_back(Url(host, "/"));
    return expected;
  }
  const auto page = site.web().FindPage(*id, path);
  if (!page) return expected;  // 404
  std::vector<sim::WebLink> links;
  site.web().AppendLinks(*page, &links);
  for (const sim::WebLink& link : links) {
    site.web().AppendUrl(link.to, &expected.links.emplace_back());
  }
  return expected;
}

PageCounts CrawlCmdTest::Reachable(
    const std::vector<std::string>& seeds,
    const std::function<bool(std::string_view)>& in_scope, int attempts) const {
  PageCounts known;
  std::deque<std::string> open(seeds.begin(), seeds.end());
  while (!open.empty()) {
    const std::string url = open.front();
    open.pop_front();
    if (known.contains(url) || !in_scope(PartsOf(url).host)) continue;
    Expected expected = Expect(url, attempts);
    known[url] = expected.count;
    for (std::string& link : expected.links) open.push_back(std::move(link));
  }
  std::erase_if(known, [](const auto& page) { return page.second == 0; });
  return known;
}

PageCounts CrawlCmdTest::Archived(bool robots) const {
  PageCounts pages;
  for (const auto& entry :
       std::filesystem::directory_iterator(Job() + "/archive")) {
    const std::string path = entry.path();
    if (path.find(".warc.gz") == std::string::npos) continue;
    auto reader = store::WarcReader::Open(*fs_, path);
    EXPECT_TRUE(reader) << path;
    if (!reader) continue;
    auto state = (*reader)->Next();
    for (; state && *state == store::ReadState::kRecord;
         state = (*reader)->Next()) {
      const store::WarcHeader& header = (*reader)->header();
      const std::string url(header.target_uri());
      if ((header.type() != store::RecordType::kResponse &&
           header.type() != store::RecordType::kRevisit) ||
          !url.starts_with("http") || url.ends_with("/robots.txt") != robots) {
        continue;
      }
      ++pages[url];
    }
    EXPECT_TRUE(state && *state == store::ReadState::kEnd)
        << path << ": " << (*reader)->damage();
  }
  return pages;
}

void CrawlCmdTest::ExpectArchive(const PageCounts& expected) const {
  const PageCounts archived = Archived();
  for (const auto& [url, count] : expected) {
    const auto found = archived.find(url);
    EXPECT_EQ(found == archived.end() ? 0 : found->second, count) << url;
  }
  for (const auto& [url, count] : archived) {
    EXPECT_TRUE(expected.contains(url)) << url << " is archived";
  }
}

std::vector<CrawlCmdTest::Request> CrawlCmdTest::Requests() {
  EXPECT_TRUE(web_->FlushLog());
  std::vector<Request> requests;
  std::map<std::string, size_t> open;  // by connection
  std::ifstream log(Log());
  for (std::string line; std::getline(log, line);) {
    std::istringstream words(line);
    std::string kind;
    int64_t time = 0;
    std::string connection;
    words >> kind >> time >> connection;
    if (kind == "R") {
      std::string skipped;
      Request request;
      request.begin = time;
      words >> skipped >> skipped >> request.host >> skipped >> request.path;
      open[connection] = requests.size();
      requests.push_back(std::move(request));
    } else if (kind == "E") {
      requests[open.at(connection)].end = time;
    }
  }
  return requests;
}

void CrawlCmdTest::Mark(std::string_view host) {
  sim::Client client("127.1.0.1", web_->port());
  ASSERT_TRUE(client.Send(fmt::format(
      "GET /mark HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", host)));
  EXPECT_NE(client.ReadAll(), "");
}

sim::PolitenessReport CrawlCmdTest::CheckPolite(
    const sim::PolitenessRules& rules) {
  EXPECT_TRUE(web_->FlushLog());
  auto report = sim::CheckPoliteness(*fs_, Log(), rules);
  EXPECT_TRUE(report) << report.error().message;
  if (!report) return {};
  EXPECT_EQ(report->violations, 0U);
  for (const sim::Violation& violation : report->first) {
    ADD_FAILURE() << violation.line << ": " << violation.what;
  }
  return *report;
}

}  // namespace nephila::cli
