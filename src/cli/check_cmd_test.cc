// nephila check, the real program: a crawl of the simulated web is sound and
// polite; one that was tampered with is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

// What a loaded machine is late by.
constexpr const char* kTolerance = "60ms";

class CheckCmdTest : public CrawlCmdTest {
 protected:
  static std::string ReadAll(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void WriteAll(const std::filesystem::path& path,
                       const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  std::map<std::string, std::string> JobFiles() const {
    std::map<std::string, std::string> files;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(Job())) {
      if (entry.is_regular_file() && entry.path().filename() != "reserve") {
        files[entry.path()] = ReadAll(entry.path());
      }
    }
    return files;
  }
  // The lines of the web's log, and the same with some changed.
  std::vector<std::string> LogLines() {
    EXPECT_TRUE(web_->FlushLog());
    std::istringstream in(ReadAll(Log()));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::string WriteLog(const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    WriteAll(Folder("other.log"), text);
    return Folder("other.log");
  }
  Ended CheckLog(const std::string& log, std::vector<std::string> args) {
    args.insert(args.begin(), {"check", "--politeness", log});
    return Run(args);
  }

  // Two hosts that ask for something, two pages each.
  void CrawlThoseThatAsk() {
    Serve(R"(
[[rule]]
host = "slowly.example"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 0.8\n"
[[rule]]
host = "slowly.example"
behaviour = "page"
[[rule]]
host = "busy.example"
path = "/busy"
behaviour = "retry-after"
status = 503
delay = "1s"
[[rule]]
host = "busy.example"
behaviour = "page"
)");
    const Ended ended =
        Crawl({Url("slowly.example", "/a"), Url("busy.example", "/busy"),
               Url("busy.example", "/b"), "--set", "fetch.retry_attempts=2",
               "--set", "fetch.retry_wait=0s", "--set",
               "politeness.back_off=0s", "--set", "politeness.host_delay=300ms",
               "--set", "politeness.server_delay=50ms"});
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  static std::vector<std::string> ColumnsOf(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;) columns.push_back(word);
    return columns;
  }
  // Moves what a host was asked for behind its first request of `path` ahead in
  // time, so that it comes `after` microseconds behind the end of that one,
  // however late it was.
  static std::vector<std::string> Earlier(std::vector<std::string> lines,
                                          const std::string& host,
                                          const std::string& path,
                                          int64_t after) {
    std::set<std::string> own;  // the connections to the host
    for (const std::string& line : lines) {
      const std::vector<std::string> columns = ColumnsOf(line);
      if (columns[0] == "R" && columns[5] == host) own.insert(columns[2]);
    }
    std::map<std::string, size_t> fresh;  // connections without a request
    std::string passed;                   // the connection of `path`
    int64_t end = 0;
    int64_t by = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::vector<std::string> columns = ColumnsOf(lines[i]);
      if (!own.contains(columns[2])) continue;
      if (columns[0] == "A") fresh[columns[2]] = i;
      if (columns[0] == "E" && columns[2] == passed && end == 0) {
        end = TimeOf(lines[i]);
      }
      if (columns[0] == "R") {
        const auto accepted = fresh.extract(columns[2]);
        if (by == 0 && !passed.empty()) {
          // With its connection, if that is fresh.
          const size_t contact = accepted.empty() ? i : accepted.mapped();
          by = TimeOf(lines[contact]) - end - after;
          if (contact != i) lines[contact] = Shifted(lines[contact], by);
        } else if (passed.empty() && columns[7] == path) {
          passed = columns[2];
        }
      }
      lines[i] = Shifted(lines[i], by);
    }
    EXPECT_GT(end, 0) << host << path;
    EXPECT_GT(by, 0) << host << path;
    // Others were asked in between: a log is in order.
    std::stable_sort(lines.begin(), lines.end(),
                     [](const std::string& one, const std::string& two) {
                       return TimeOf(one) < TimeOf(two);
                     });
    return lines;
  }
  // Comments come first.
  static int64_t TimeOf(const std::string& line) {
    const size_t begin = line.find(' ') + 1;
    return begin == 0 || line[0] == '#' ? 0 : std::stoll(line.substr(begin));
  }
  static std::string Shifted(const std::string& line, int64_t by) {
    const size_t begin = line.find(' ') + 1;
    if (begin == 0 || line[0] == '#') return line;
    const size_t end = line.find(' ', begin);
    const int64_t time = std::stoll(line.substr(begin, end - begin));
    return line.substr(0, begin) + std::to_string(time - by) + line.substr(end);
  }
};

TEST_F(CheckCmdTest, ACrawlIsSoundAndPoliteAndNothingIsChanged) {
  CrawlThoseThatAsk();
  const auto files = JobFiles();
  const Ended job = Run({"check", "--job", Job()});
  EXPECT_EQ(job.code, kSuccess) << job.out << job.err;
  EXPECT_NE(job.out.find("\njournal: entries 1 to "), std::string::npos)
      << job.out;
  EXPECT_EQ(job.out.find("damage"), std::string::npos) << job.out;
  EXPECT_TRUE(files == JobFiles());

  const Ended json = Run({"check", "--job", Job(), "--json"});
  EXPECT_EQ(json.code, kSuccess);
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["sound"], true);
  EXPECT_EQ(report["damage_count"], 0);
  EXPECT_GE(report["parts"].size(), 8U);

  LogLines();
  const Ended polite =
      CheckLog(Log(), {"--job", Job(), "--tolerance", kTolerance});
  EXPECT_EQ(polite.code, kSuccess) << polite.out << polite.err;
  EXPECT_NE(polite.out.find(" answers that asked for a wait: 0 early"),
            std::string::npos)
      << polite.out;
  // Crawl-delay, and Retry-After twice.
  EXPECT_EQ(polite.out.find(" 0 answers"), std::string::npos) << polite.out;
}

TEST_F(CheckCmdTest, DamageIsNamedAndHasAnExitStatusOfItsOwn) {
  CrawlThoseThatAsk();
  for (const auto& [path, contents] : JobFiles()) {
    if (!path.ends_with(".warc.gz") && !path.ends_with(".cdxj") &&
        path.find("/manifests/") == std::string::npos) {
      continue;
    }
    std::string changed = contents;
    changed[changed.size() / 2] ^= 0x10;
    WriteAll(path, changed);
    const Ended ended = Run({"check", "--job", Job()});
    EXPECT_EQ(ended.code, kUnsound) << path << ended.out;
    EXPECT_NE(ended.out.find("damage: "), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find(std::filesystem::path(path).filename().string()),
              std::string::npos)
        << ended.out;
    EXPECT_NE(ended.err.find(" damages"), std::string::npos) << ended.err;
    WriteAll(path, contents);
  }
  EXPECT_EQ(Run({"check", "--job", Job()}).code, kSuccess);
}

TEST_F(CheckCmdTest, EachKindOfEarlyContactIsFoundAndBothLinesNamed) {
  CrawlThoseThatAsk();
  const std::vector<std::string> lines = LogLines();
  const auto expect = [&](const std::vector<std::string>& changed,
                          const std::string& what) {
    const std::string log = WriteLog(changed);
    const Ended ended = CheckLog(log, {"--job", Job()});
    EXPECT_EQ(ended.code, kUnsound) << what << ": " << ended.out << ended.err;
    EXPECT_NE(ended.out.find(what), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("(after line "), std::string::npos) << ended.out;
  };
  expect(Earlier(lines, "slowly.example", "/robots.txt", 350'000),
         "(Crawl-delay)");
  expect(Earlier(lines, "busy.example", "/busy", 500'000), "(Retry-After)");
  expect(Earlier(lines, "busy.example", "/robots.txt", 20'000), ", not 300ms");
  // Two at once: the end of a transfer comes behind the next request.
  std::vector<std::string> at_once = {
      "A 0 1 127.1.0.1", "R 0 1 0 127.1.0.1 a.com GET /",
      "A 9000000 2 127.1.0.2", "R 9000000 2 9000000 127.1.0.2 a.com GET /x"};
  expect(at_once, "a second request in flight");
  // Two hosts of one address.
  expect(
      {"A 0 1 127.1.0.1", "R 0 1 0 127.1.0.1 a.com GET /", "E 0 1 200 1 close",
       "A 30000 2 127.1.0.1", "R 30000 2 30000 127.1.0.1 b.com GET /"},
      "server 127.1.0.1: contacted 30ms after the contact before, not 50ms");
}

TEST_F(CheckCmdTest, WithoutAJobDelaysAreGiven) {
  const std::string log =
      WriteLog({"# nephila sim log 1", "A 0 1 127.1.0.1",
                "R 0 1 0 127.1.0.1 a.com GET /", "E 0 1 200 1 keep",
                "R 980000 1 0 127.1.0.1 a.com GET /", "E 980000 1 200 1 keep"});
  EXPECT_EQ(CheckLog(log, {"--host-delay", "980ms"}).code, kSuccess);
  EXPECT_EQ(CheckLog(log, {"--host-delay", "990ms"}).code, kSuccess);
  const Ended early = CheckLog(log, {"--host-delay", "1s"});
  EXPECT_EQ(early.code, kUnsound);
  EXPECT_TRUE(early.out.starts_with(
      "line 5 (after line 4): host a.com: contacted 980ms after the end of the "
      "transfer before, not 1s\n"))
      << early.out;
  const auto json = nlohmann::json::parse(
      CheckLog(log, {"--host-delay", "0s", "--server-delay", "1s", "--json"})
          .out);
  EXPECT_EQ(json["early"], 1);
  EXPECT_EQ(json["first"][0]["line"], 5);
  EXPECT_EQ(json["first"][0]["after"], 2);
}

TEST_F(CheckCmdTest, SaysWhatIsWrong) {
  const auto expect = [&](const std::vector<std::string>& args, ExitCode code,
                          const std::string& what) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(what), std::string::npos) << ended.err;
  };
  expect({"check"}, kUsage, "--job DIR, or --politeness LOG");
  expect({"check", "--politeness", "x"}, kUsage, "what was to be kept?");
  expect({"check", "--job", Folder("none")}, kFailed, "no job is there");
  expect({"check", "--politeness", Folder("none"), "--host-delay", "1s"},
         kFailed, "none");
  expect({"check", "--job", Folder("none"), "--memory", "much"}, kUsage, "");
}

}  // namespace
}  // namespace nephila::cli
