// The program as a user runs it: arguments, input, output, exit status.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "config/reference.h"

namespace nephila::cli {
namespace {

struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Of this process alone: tests run side by side.
std::string TempFile(const std::string& name) {
  return testing::TempDir() + "cli_" + std::to_string(getpid()) + "_" + name;
}

// Input and outputs pass through files: no pipe can fill and block.
struct Redirect {
  std::string input_path = {};
  std::string output_path = {};
};

Finished RunProgram(const std::string& program,
                    std::vector<std::string> arguments,
                    const std::string& input = "",
                    const Redirect& redirect_to = {}) {
  std::string base = TempFile("io");
  std::ofstream(base + ".in", std::ios::binary) << input;
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    auto redirect = [](const std::string& path, int flags, int to) {
      int fd = open(path.c_str(), flags, 0600);
      if (fd < 0 || dup2(fd, to) < 0) _exit(126);
    };
    auto or_else = [](const std::string& path, const std::string& other) {
      return path.empty() ? other : path;
    };
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    redirect(or_else(redirect_to.input_path, base + ".in"), O_RDONLY, 0);
    redirect(or_else(redirect_to.output_path, base + ".out"), kWrite, 1);
    redirect(base + ".err", kWrite, 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  Finished run;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  run.out = Contents(base + ".out");
  run.err = Contents(base + ".err");
  for (const char* suffix : {".in", ".out", ".err"}) {
    std::remove((base + suffix).c_str());
  }
  return run;
}

Finished Nephila(std::vector<std::string> arguments,
                 const std::string& input = "",
                 const Redirect& redirect_to = {}) {
  return RunProgram(NEPHILA_BINARY, std::move(arguments), input, redirect_to);
}

std::vector<nlohmann::json> JsonLines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

TEST(CliWarc, ListsChecksAndFailsByExitStatus) {
  std::string sample = SourcePath("testdata/warc/warcio/example.warc.gz");
  Finished run = Nephila({"warc", "ls", "--json", sample});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(JsonLines(run.out).size(), 6u);
  EXPECT_EQ(Nephila({"warc", "verify", sample}).status, 0);
  run = Nephila({"warc", "cat", sample, "--offset", "0"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("WARC/1.0\r\n"));
  std::string torn = TempFile("torn.warc.gz");
  std::ofstream(torn, std::ios::binary) << Contents(sample).substr(0, 2'000);
  run = Nephila({"warc", "verify", torn});
  EXPECT_EQ(run.status, 4);
  EXPECT_NE(run.out.find("torn"), std::string::npos);
  std::remove(torn.c_str());
  run = Nephila({"warc", "index", sample});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("com,example)/ 2017")) << run.out;
  EXPECT_EQ(Nephila({"warc", "cat", sample}).status, 2);
  EXPECT_EQ(Nephila({"warc"}).status, 2);
  EXPECT_EQ(Nephila({"warc", "sl", sample}).status, 2);
}

TEST(CliUrl, PrintsALineOfJsonPerArgument) {
  Finished run = Nephila({"url", "--base", "http://www.Example.co.uk/a/b", "--",
                          "../c/index.html#x", "mailto:a@b.c", "http://a b/"});
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["input"], "../c/index.html#x");
  EXPECT_EQ(lines[0]["href"], "http://www.example.co.uk/c/index.html#x");
  EXPECT_EQ(lines[0]["canonical"], "http://www.example.co.uk/c/");
  EXPECT_EQ(lines[0]["host"], "www.example.co.uk");
  EXPECT_EQ(lines[0]["pld"], "example.co.uk");
  EXPECT_EQ(lines[0]["site"], "example.co.uk");
  std::string key = lines[0]["key"];
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(std::stoull(key, nullptr, 16) & 1023, lines[0]["shard"]);
  EXPECT_EQ(lines[1]["href"], "mailto:a@b.c");
  EXPECT_EQ(lines[1]["dropped"], "scheme");
  EXPECT_FALSE(lines[1].contains("key"));
  EXPECT_EQ(lines[2]["failure"], "invalid-host");
  EXPECT_FALSE(lines[2].contains("href"));
}

TEST(CliUrl, ReadsLinesFromStandardInputWhateverTheyHold) {
  std::string input = "http://a.com/\n\nhttp://b.com/\xff\r\nhttp://c.com/";
  input += std::string(1, '\0') + "x\n" + "http://d.com/" +
           std::string(1 << 20, 'y');
  Finished run = Nephila({"url"}, input);
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0]["canonical"], "http://a.com/");
  EXPECT_EQ(lines[1]["failure"], "relative-without-base");
  EXPECT_EQ(lines[2]["input"], "http://b.com/\xef\xbf\xbd");
  EXPECT_EQ(lines[2]["canonical"], "http://b.com/%EF%BF%BD");
  EXPECT_EQ(lines[3]["canonical"], "http://c.com/%00x");
  EXPECT_EQ(lines[4]["dropped"], "too-long");
}

TEST(CliUrl, BehindTwoDashesEverythingIsAUrl) {
  Finished run = Nephila({"url", "--base", "http://a.com/", "x", "--", "--help",
                          "[a,b]", "[]", "-", "--"});
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0]["href"], "http://a.com/x");
  EXPECT_EQ(lines[1]["href"], "http://a.com/--help");
  EXPECT_EQ(lines[2]["href"], "http://a.com/[a,b]");
  EXPECT_EQ(lines[3]["href"], "http://a.com/[]");
  EXPECT_EQ(lines[5]["href"], "http://a.com/--");
  run = Nephila({"url", "[a,b]"}, "http://not.read/");
  ASSERT_EQ(JsonLines(run.out).size(), 1u);
  EXPECT_EQ(JsonLines(run.out)[0]["input"], "[a,b]");
}

TEST(CliUrl, ALineLongerThanAnyUrlIsRefusedInBoundedMemory) {
  Finished run =
      Nephila({"url"}, std::string(20 << 20, 'x') + "\nhttp://a.com/\n");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_LT(run.out.size(), 2u << 20);
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["failure"], "too-long");
  EXPECT_EQ(lines[1]["canonical"], "http://a.com/");
}

TEST(CliUrl, LinesAreReadWholeWhateverTheirLength) {
  std::string input;
  for (size_t length = 4080; length < 4110; ++length) {
    input += "http://a.com/" + std::string(length - 13, 'x') + "\n";
  }
  Finished run = Nephila({"url"}, input);
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 30u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["input"].get<std::string>().size(), 4080 + i);
  }
}

TEST(CliUrl, AnInputThatCannotBeReadIsAnError) {
  Finished run = Nephila({"url"}, "", {.input_path = "/"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "nephila: standard input cannot be read\n");
}

TEST(Cli, AFullDiskIsAnErrorForEveryVerb) {
  const std::vector<std::vector<std::string>> verbs = {
      {"url", "http://a.com/"}, {"settings"}, {"--help"}};
  for (const auto& arguments : verbs) {
    Finished run = Nephila(arguments, "", {.output_path = "/dev/full"});
    EXPECT_EQ(run.status, 1) << arguments[0];
    EXPECT_EQ(run.err, "nephila: standard output cannot be written\n");
  }
}

TEST(CliUrl, SettingsComeFromFileAndSet) {
  std::string file = TempFile("settings.toml");
  std::ofstream(file) << "[url]\nsort_query = true\nwww = \"add\"\n";
  Finished run =
      Nephila({"url", "--config", file, "--set", "url.www=keep", "--set",
               "url.strip_query=utm_*", "--", "http://a.com/?b=1&utm_x=2&a=3"});
  std::remove(file.c_str());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(JsonLines(run.out)[0]["canonical"], "http://a.com/?a=3&b=1");
}

TEST(CliUrl, APublicSuffixListOfOnesOwn) {
  std::string file = TempFile("suffixes.dat");
  std::ofstream(file) << "// ===BEGIN ICANN DOMAINS===\nexample.com\n";
  Finished run = Nephila({"url", "--set", "url.public_suffix_list=" + file,
                          "--", "http://a.b.example.com/"});
  EXPECT_EQ(JsonLines(run.out)[0]["pld"], "b.example.com");
  std::ofstream(file) << "<html>";
  run = Nephila({"url", "--set", "url.public_suffix_list=" + file, "--", "x"});
  std::remove(file.c_str());
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find("line 1: not a rule"), std::string::npos) << run.err;
  run = Nephila({"url", "--set", "url.public_suffix_list=" + file, "--", "x"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find(file), std::string::npos) << run.err;
}

TEST(CliRobots, AnswersFromFileAndInput) {
  Finished run = Nephila({"robots", "--file", "-", "--", "/a", "--help"},
                         "User-agent: *\nDisallow: /a\n");
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["allowed"], false);
  EXPECT_EQ(lines[0]["line"], 2);
  EXPECT_EQ(lines[1]["url"], "--help");
  EXPECT_EQ(lines[1]["allowed"], true);
}

// One line on stderr, and the status that --help lists.
void ExpectError(const std::vector<std::string>& arguments, int status,
                 const std::string& part) {
  Finished run = Nephila(arguments);
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(Cli, WrongUseIsOneLineAndAStatus) {
  ExpectError({}, 2, "nephila --help");
  ExpectError({"settigns"}, 2, "did you mean settings?");
  ExpectError({"zzz"}, 2, "zzz: no such verb");
  ExpectError({"demo", "extra"}, 2, "extra");
  ExpectError({"url", "--bsae", "x"}, 2, "--bsae");
  ExpectError({"robots", "/x"}, 2, "--file");
  ExpectError({"robots", "--file", "/nonexistent", "/x"}, 1, "/nonexistent");
  ExpectError({"robots", "--file", "/", "/x"}, 1, "/");
  ExpectError({"url", "--base", "not-absolute", "x"}, 2, "not an absolute URL");
  ExpectError({"url", "--set", "url.max_lenght=10", "x"}, 3,
              "did you mean url.max_length?");
  ExpectError({"url", "--set", "url.max_length=lots", "x"}, 3, "lots");
  ExpectError({"url", "--set", "guard.allow=10.1.2.3/8", "x"}, 3,
              "10.0.0.0/8 would be one");
  ExpectError({"url", "--set", "url.allow_ports=smtp", "x"}, 3,
              "url.allow_ports: smtp is not a port");
  ExpectError({"url", "--set", "politeness.site_delays=example.org", "x"}, 3,
              "example.org=2s");
  ExpectError({"url", "--config", "/nonexistent.toml", "x"}, 3,
              "/nonexistent.toml");
}

TEST(Cli, HelpListsVerbsAndExitStatus) {
  Finished run = Nephila({"--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* word :
       {"url", "robots", "settings", "bench", "model", "demo", "Exit status"}) {
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
  }
}

TEST(CliSettings, MarkdownIsTheReference) {
  EXPECT_EQ(Nephila({"settings", "--markdown"}).out,
            config::ReferenceMarkdown());
}

TEST(CliSettings, TomlLoadsBack) {
  Finished run =
      Nephila({"settings", "--toml", "--set", "url.max_length=1KiB"});
  ASSERT_EQ(run.status, 0) << run.err;
  std::string file = TempFile("roundtrip.toml");
  std::ofstream(file) << run.out;
  EXPECT_EQ(Nephila({"settings", "--toml", "--config", file}).out, run.out);
  std::remove(file.c_str());
}

// The share in the last column of a line that begins so.
double LastShare(const std::string& text, const std::string& begin) {
  const size_t at = text.find(begin);
  if (at == std::string::npos) return -1;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  const size_t space = line.find_last_of(' ', line.size() - 3);
  return std::strtod(line.c_str() + space, nullptr);
}

TEST(CliDemo, CrawlsAWebWithoutNetworkAndSaysWhatCameOfIt) {
  const std::string job = TempFile("demo");
  Finished run = Nephila({"demo", "--time", "4s", "--job", job + "/"});
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* part :
       {"Crawled  ", "Refused  ", "Top domains by", "in-degree",
        "spam: farms of links", "by the servers' own log",
        " none of them early; ", "Memory   ", "archive/", "crawl.log",
        "Look further:", "Crawl a site of yours:"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << run.out;
  }
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    // But for commands with the long names of tests.
    if (line.find(job) == std::string::npos) {
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
  // What budgets are for.
  EXPECT_LT(LastShare(run.out, "  spam: "), 20) << run.out;
  EXPECT_GT(LastShare(run.out, "  the rest of the web"), 50) << run.out;
  // It is a job like any other, and its web is gone.
  EXPECT_EQ(Nephila({"check", "--job", job}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(job + ".requests.log"));
  run = Nephila({"demo", "--time", "1s", "--job", job});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("is there already"), std::string::npos) << run.err;
  std::filesystem::remove_all(job);
  std::filesystem::remove(job + ".requests.log");
}

TEST(CliModel, PrintsThePapersFiguresBesideItsOwn) {
  Finished run = Nephila({"model", "II", "vii"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(
      run.out.find("| 8T   | 1 GB | Polybot    | (2) | 660802.6 | 660,802 |"),
      std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("VII: pages/s"), std::string::npos);
  EXPECT_EQ(run.out.find("III:"), std::string::npos);
}

TEST(CliModel, JsonHasALinePerFigureAndNote) {
  Finished run = Nephila({"model", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  size_t differ = 0;
  for (const nlohmann::json& line : JsonLines(run.out)) {
    EXPECT_TRUE(line.contains("text") || line["computed"].is_number());
    if (line.value("as", "") != "differs") continue;
    ++differ;
    EXPECT_TRUE(line.contains("note")) << line;
  }
  EXPECT_EQ(differ, 8u);
  run = Nephila({"model", "--json", "iii"});
  auto line = JsonLines(run.out).at(0);
  EXPECT_EQ(line["table"], "III");
  EXPECT_EQ(line["N"], "800M");
  EXPECT_EQ(line["method"], "Mercator-B");
  EXPECT_EQ(line["printed"], 4.48);
  EXPECT_NEAR(line["computed"], 4.4869, 0.0001);
  EXPECT_EQ(line["as"], "truncated");
}

TEST(CliModel, TakesParametersAndNamesThem) {
  Finished run = Nephila({"model", "--b", "61", "--N", "8e8", "--R", "1e9",
                          "--R", "2e9", "--json", "II"});
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[5]["R"], "2 GB");
  EXPECT_EQ(lines[5]["method"], "DRUM");
  EXPECT_GT(lines[5]["computed"], 2.3734);  // 2 + p + 2H/b
  EXPECT_LT(lines[5]["computed"], 2.3934);
  std::string text = lines[6]["text"];
  EXPECT_NE(text.find("b = 61 (not 110)"), std::string::npos) << text;
  run = Nephila({"model", "--N", "1e9", "--store-D", "8e9", "--store-D", "9e9",
                 "--json", "store", "tiers"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(JsonLines(run.out).size(), 2u + 2u + 6u);
  ExpectError({"model", "VIII"}, 2, "there are II III drum");
  ExpectError({"model", "--p", "2"}, 2, "p = 2 is not in");
  ExpectError({"model", "--b", "x"}, 2, "--b");
}

TEST(CliLinks, PrintsALineOfJsonPerLink) {
  std::string page =
      "<meta name=robots content=none><base href=/b/><a href='x?a&amp;b' "
      "rel=nofollow><img src='http://['><form method=post action=y>"
      "<title>T</title>Some <b>text</b><svg><a href=z>";
  Finished run = Nephila(
      {"links", "--base", "http://h.example/dir/", "--text", "--meta"}, page);
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 6u) << run.out;
  EXPECT_EQ(lines[0]["link"], "http://h.example/b/x?a&b");
  EXPECT_EQ(lines[0]["tag"], "a");
  EXPECT_EQ(lines[0]["attr"], "href");
  EXPECT_EQ(lines[0]["rel"], "nofollow");
  EXPECT_EQ(lines[1]["raw"], "http://[");
  EXPECT_EQ(lines[1]["failure"], "invalid-host");
  EXPECT_EQ(lines[2]["svg"], true);
  EXPECT_EQ(lines[3]["meta"], "robots");
  EXPECT_EQ(lines[3]["content"], "none");
  EXPECT_EQ(lines[4]["title"], "T");
  EXPECT_EQ(lines[4]["text"], "Some text");
  EXPECT_EQ(lines[5]["dropped"]["form-method"], 1);
}

TEST(CliLinks, ReadsAFileInItsEncoding) {
  std::string file = TempFile("page.html");
  std::ofstream(file) << "<a href='\xe9?\xe9'>";
  Finished run =
      Nephila({"links", "--base", "http://h/", "--charset", "latin1", file});
  std::ofstream(file, std::ios::binary)
      << std::string("\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0\x42\x30>\0", 22);
  Finished wide = Nephila({"links", "--base", "http://h/", file});
  std::remove(file.c_str());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(JsonLines(run.out).at(0)["link"], "http://h/%C3%A9?%E9");
  ASSERT_EQ(wide.status, 0) << wide.err;
  EXPECT_EQ(JsonLines(wide.out).at(0)["link"], "http://h/%E3%81%82");
}

TEST(CliLinks, KeepsToTheSettings) {
  std::string page = "<a href=1><a href=2><img src=3>";
  Finished run = Nephila(
      {"links", "--base", "http://h/", "--set", "parse.max_links=1"}, page);
  EXPECT_EQ(JsonLines(run.out).at(1)["dropped"]["too-many"], 2);
  run = Nephila(
      {"links", "--base", "http://h/", "--set", "parse.resources=false"}, page);
  EXPECT_EQ(JsonLines(run.out).size(), 2u);

  // "Privet, mir" in windows-1251, which nothing declares.
  std::string text = "\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0. ";
  std::string russian = "<a href='/\xec\xe8\xf0'>";
  for (int i = 0; i < 20; ++i) russian += text;
  run = Nephila({"links", "--base", "http://h/"}, russian);
  EXPECT_EQ(JsonLines(run.out).at(0)["link"], "http://h/%D0%BC%D0%B8%D1%80");
  run = Nephila(
      {"links", "--base", "http://h/", "--set", "parse.guess_charset=false"},
      russian);
  EXPECT_EQ(JsonLines(run.out).at(0)["link"], "http://h/%C3%AC%C3%A8%C3%B0");
}

TEST(CliLinks, ReadsSitemapsAndHeaders) {
  Finished run = Nephila(
      {"links", "--base", "http://h/d/", "--header", "Link: <n>; rel=next"},
      "<urlset><url><loc>http://h/1</loc></url></urlset>");
  ASSERT_EQ(run.status, 0) << run.err;
  auto lines = JsonLines(run.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["link"], "http://h/d/n");
  EXPECT_EQ(lines[0]["header"], true);
  EXPECT_EQ(lines[1]["link"], "http://h/1");
  EXPECT_EQ(lines[1]["tag"], "loc");
  run = Nephila({"links", "--base", "http://h/", "--header",
                 "content-type: text/plain; charset=x"},
                "a <a href=1>");
  EXPECT_EQ(run.out, "");
  run = Nephila({"links", "--base", "http://h/", "--header", "nonsense"});
  EXPECT_EQ(run.status, 2);
}

TEST(CliLinks, SaysWhatIsWrong) {
  EXPECT_EQ(Nephila({"links"}).status, 2);
  EXPECT_EQ(Nephila({"links", "--base", "x"}).status, 2);
  EXPECT_EQ(Nephila({"links", "--base", "http://h/", "a", "b"}).status, 2);
  Finished run = Nephila({"links", "--base", "http://h/", "/nonexistent"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("/nonexistent"), std::string::npos) << run.err;
}

TEST(CliBench, SaysWhereItMissesTheProgramOfTheBenchmarks) {
  std::string folder = TempFile("alone");
  std::string program = folder + "/nephila";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(NEPHILA_BINARY, program);
  Finished run = RunProgram(program, {"bench", "url"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("there is no nephila-bench in " + folder),
            std::string::npos)
      << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

}  // namespace
}  // namespace nephila::cli
