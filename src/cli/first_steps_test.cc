// A new user's path: the commands of the README, as they stand there, in an
// empty folder, to a finished crawl of a site.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void Replace(const std::string& what, const std::string& with,
             std::string* text) {
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + with.size())) {
    text->replace(at, what.size(), with);
  }
}

// The first block of commands behind a title.
std::string CommandsBehind(const std::string& title) {
  const std::string readme = Contents(SourcePath("README.md"));
  const size_t section = readme.find("\n## " + title + "\n");
  EXPECT_NE(section, std::string::npos) << title;
  const size_t begin = readme.find("```sh\n", section) + 6;
  return readme.substr(begin, readme.find("```", begin) - begin);
}

class FirstStepsTest : public CrawlCmdTest {};

TEST_F(FirstStepsTest, TheReadmesTwoCommandsCrawlASite) {
  Serve(R"([[rule]]
host = "www.example.org"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nDisallow: /private/\n"
[[rule]]
host = "www.example.org"
path = "/"
behaviour = "status"
status = 200
type = "text/html"
text = "<title>Home</title><a href=/a>a</a> <a href=/private/b>b</a> <a href=http://elsewhere.example:@PORT@/>away</a>"
[[rule]]
host = "www.example.org"
path = "/a"
behaviour = "status"
status = 200
type = "text/html"
text = "<title>A</title><a href=/>home</a> <a href=/gone>gone</a>"
[[rule]]
host = "www.example.org"
behaviour = "status"
status = 404
)");
  std::string commands = CommandsBehind("A first crawl");
  // In place of the real site one on this machine, for which the guard and the
  // resolver have to be told.
  const std::string site = Url("www.example.org", "/");
  ASSERT_NE(commands.find(" https://www.example.org/\n"), std::string::npos)
      << commands;
  Replace(" https://www.example.org/\n",
          fmt::format(" --set guard.allow=127.0.0.0/8 "
                      "--set dns.servers=127.0.0.1:{} {}\n",
                      web_->dns_port(), site),
          &commands);
  Replace("./nephila ", std::string(NEPHILA_BINARY) + " ", &commands);
  const std::string empty = Folder("empty");
  std::filesystem::create_directories(empty);
  std::ofstream(Folder("steps.sh")) << "set -e\ncd " << empty << '\n'
                                    << commands;
  const int status =
      std::system(fmt::format("sh {0}/steps.sh >{0}/out.txt 2>{0}/err.txt",
                              folder_.string())
                      .c_str());
  const std::string out = Contents(Folder("out.txt"));
  ASSERT_EQ(WEXITSTATUS(status), 0) << out << Contents(Folder("err.txt"));
  EXPECT_NE(out.find("finished: 3 pages (3 in this run)"), std::string::npos)
      << out;
  EXPECT_NE(out.find("denied 1"), std::string::npos) << out;
  // All of it is in the one folder that was asked for.
  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(empty)) {
    EXPECT_EQ(entry.path().filename(), "my-site");
    ++entries;
  }
  EXPECT_EQ(entries, 1U);
  // And the second command showed what was found.
  EXPECT_NE(out.find(" text/html "), std::string::npos) << out;
  EXPECT_NE(out.find(site + "a\n"), std::string::npos) << out;
}

}  // namespace
}  // namespace nephila::cli
