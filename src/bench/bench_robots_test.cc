#include "bench/bench_robots.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/tar.h"

namespace nephila::bench {
namespace {

TEST(BenchRobots, PrintsTheNamesThatScriptsRelyOn) {
  setenv("NEPHILA_CORPUS", "/nonexistent", 1);
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  BenchRobotsOptions options;
  options.passes = 1;
  options.json = true;
  std::ostringstream out;
  ASSERT_TRUE(RunBenchRobots(*setup, options, out).has_value());
  auto line = nlohmann::json::parse(out.str());
  EXPECT_EQ(line["source"], "generated");
  EXPECT_EQ(line["files"], 500);
  EXPECT_GT(line["ns_per_match"], 0);
  EXPECT_GT(line["mb_per_s"], 0);
  EXPECT_EQ(line["deviating_share"], 0);
  EXPECT_GT(line["allowed_share"], 0.3);
  EXPECT_LT(line["allowed_share"], 0.99);
  options.json = false;
  std::ostringstream text;
  ASSERT_TRUE(RunBenchRobots(*setup, options, text).has_value());
  EXPECT_NE(text.str().find("500 files of generated"), std::string::npos);
  options.corpus = "/nonexistent";
  EXPECT_FALSE(RunBenchRobots(*setup, options, text).has_value());
  unsetenv("NEPHILA_CORPUS");
}

// A header of a file with `size` in octal.
std::string TarHeader(const std::string& name, const std::string& size,
                      char type) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, size.size(), size);
  header[156] = type;
  return header;
}

std::string Padded(std::string body) {
  body.resize((body.size() + 511) / 512 * 512);
  return body;
}

TEST(Tar, HasItsRegularFilesAndLongNames) {
  std::string tar = TarHeader("folder/", "0", '5') +
                    TarHeader("a", "00000000003", '0') + Padded("abc") +
                    TarHeader("x", "12", 'L') + Padded("long/name/") +
                    TarHeader("cut", "1001", '0') +
                    Padded(std::string(513, 'q')) + std::string(1024, '\0');
  std::vector<std::string> seen;
  auto take = [&seen](std::string_view name, std::string_view body) {
    seen.push_back(std::string(name) + "=" + std::to_string(body.size()));
  };
  ASSERT_TRUE(ForEachTarFile(tar, take).has_value());
  EXPECT_EQ(seen, (std::vector<std::string>{"a=3", "long/name/=513"}));
  EXPECT_TRUE(ForEachTarFile("", take).has_value());
  EXPECT_FALSE(ForEachTarFile(TarHeader("a", "1", '0'), take).has_value());
}

}  // namespace
}  // namespace nephila::bench
