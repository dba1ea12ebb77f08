#include "cli/sim_cmd.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/real_file_system.h"
#include "sim/politeness_check.h"
#include "sim/socket_testing.h"

namespace nephila::cli {
namespace {

struct Ran {
  std::string out;
  std::string error;
};

Ran Sim(std::vector<std::string> words, SimOptions options = {}) {
  options.words = std::move(words);
  std::ostringstream out;
  const Status status = RunSim(options, out);
  return {out.str(), status ? "" : status.error().message};
}

std::string TempFile(const std::string& name, const std::string& text) {
  std::string path =
      testing::TempDir() + "sim_" + std::to_string(getpid()) + "_" + name;
  std::ofstream(path) << text;
  return path;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(CliSim, PrintsWhatAPageMustContain) {
  SimOptions options;
  options.link_port = 80;
  const auto seeds = Lines(Sim({"seeds", "3"}, options).out);
  ASSERT_EQ(seeds.size(), 3U);
  const Ran page = Sim({"page", seeds[2]}, options);
  EXPECT_EQ(page.error, "");
  EXPECT_TRUE(page.out.starts_with("<!DOCTYPE html>"));
  options.json = true;
  const auto json = nlohmann::json::parse(Sim({"page", seeds[2]}, options).out);
  EXPECT_EQ(json["url"], seeds[2]);
  EXPECT_EQ(json["status"], 200);
  EXPECT_EQ(json["bytes"], page.out.size());
  ASSERT_GT(json["links"].size(), 5U);
  options.seed = 2;
  EXPECT_EQ(
      nlohmann::json::parse(Sim({"page", seeds[2]}, options).out)["status"],
      404);
}

// The port of the server is in the URL, and so in the links.
TEST(CliSim, TakesThePortOfLinksFromTheUrl) {
  const auto seeds = Lines(Sim({"seeds", "1"}).out);
  ASSERT_EQ(seeds.size(), 1U);
  std::string url = seeds[0];
  url.insert(url.size() - 1, ":8123");
  EXPECT_NE(Sim({"page", url}).out.find(":8123/"), std::string::npos);
}

TEST(CliSim, SaysWhatIsWrong) {
  EXPECT_EQ(Sim({"page"}).error,
            "sim: page URL..., seeds N, or nothing to serve");
  EXPECT_EQ(Sim({"pages", "x"}).error,
            "pages: sim knows page URL... and seeds N");
  EXPECT_EQ(Sim({"page", "ftp://x/"}).error, "ftp://x/: not an http URL");
  EXPECT_EQ(Sim({"seeds", "x"}).error, "x: not a number of seeds");
  SimOptions options;
  options.scenario = TempFile("bad.toml", "[wob]\n");
  EXPECT_NE(Sim({"seeds", "1"}, options)
                .error.find("bad.toml:1:2: wob: a scenario has a table [web]"),
            std::string::npos);
  std::remove(options.scenario.c_str());
  EXPECT_NE(Sim({"seeds", "1"}, options).error, "");
}

// The real program: ready, serving, stopped by a signal, its log written.
TEST(CliSim, ServesUntilASignal) {
  const std::string log = TempFile("served", "");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl(NEPHILA_BINARY, NEPHILA_BINARY, "sim", "--json", "--hosts", "50",
          "--log", log.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string ready;
  for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) ready += c;
  close(ends[0]);
  const auto json = nlohmann::json::parse(ready);
  EXPECT_EQ(json["hosts"], 50);
  EXPECT_NE(json["dns_port"], 0);
  sim::Client client("127.1.0.1", json["port"].get<uint16_t>());
  EXPECT_TRUE(client.connected());
  std::string host = json["start"].get<std::string>().substr(7);
  host = host.substr(0, host.find('/'));
  EXPECT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: " + host +
                          "\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 200 OK"));
  kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const auto fs = MakeRealFileSystem();
  const auto report = sim::CheckPoliteness(*fs, log, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->requests, 1U);
  EXPECT_EQ(report->connections, 1U);
  std::remove(log.c_str());
}

}  // namespace
}  // namespace nephila::cli
