// Verbs that write to sockets are not ended by SIGPIPE: with the real program.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

using BrokenPipeTest = CrawlCmdTest;

bool IgnoresBrokenPipes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  const std::string name = "SigIgn:\t";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const uint64_t mask = std::stoull(line.substr(name.size()), nullptr, 16);
    return (mask >> (SIGPIPE - 1) & 1) != 0;
  }
  return false;
}

TEST_F(BrokenPipeTest, ABrokenPipeDoesNotEndACrawl) {
  Serve(
      "[[rule]]\nhost = \"slow.example\"\npath = \"/robots.txt\"\n"
      "behaviour = \"hang\"\n");
  const pid_t crawl = Start(CrawlArgs({"--quiet", Url("slow.example", "/")}));
  ASSERT_TRUE(WaitForRequests(1, crawl));
  ASSERT_EQ(kill(crawl, SIGPIPE), 0);
  EXPECT_TRUE(StatusComes([](const nlohmann::json& status) {
    return status.value("state", "") == "running";
  }));
  ASSERT_EQ(kill(crawl, SIGINT), 0);
  kill(crawl, SIGINT);
  EXPECT_GE(Wait(crawl).code, 0);
}

TEST_F(BrokenPipeTest, VerbsThatWriteToSocketsIgnoreBrokenPipes) {
  Serve("[[rule]]\nhost = \"slow.example\"\nbehaviour = \"hang\"\n");
  std::vector<std::string> args = CrawlArgs({Url("slow.example", "/page")});
  args.erase(args.begin(), args.begin() + 3);  // crawl --job JOB
  args.insert(args.begin(), "fetch");
  const pid_t fetch = Start(args);
  ASSERT_TRUE(WaitForRequests(1, fetch));
  EXPECT_TRUE(IgnoresBrokenPipes(fetch));
}

}  // namespace
}  // namespace nephila::cli
