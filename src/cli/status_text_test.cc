#include "cli/status_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Printed(const char* json) {
  std::ostringstream out;
  PrintStatus(Json::parse(json), out);
  return out.str();
}

TEST(StatusTextTest, IsReadable) {
  const std::string text = Printed(R"({
    "pages": 12345, "bytes": 2097152, "rate": 2.5, "elapsed": 90.0,
    "failed": 3, "retries": 0, "robots": 7, "seen": 1000, "waiting": 10,
    "ready": 1, "parked": 2, "end": null, "disk": null,
    "outcomes": {"response": 5}, "statuses": {"2xx": 5},
    "stages": {"scope": {"in": 10, "made": 0, "out": 7, "held": -1,
                         "dropped": {"out-of-scope": 4}}},
    "state": "running", "limit": "nothing is left",
    "rates": {"now": 1.0, "minute": 2.0, "run": 2.5},
    "byte_rates": {"now": 1024.0},
    "memory": {"resident": 1048576, "most": 1073741824},
    "checkpoint": {"number": 3, "age": 1.5},
    "settings": {"crawl.max_pages": "7"}})");
  EXPECT_TRUE(
      text.starts_with("state        running\n"
                       "limit        nothing is left\n"
                       "pages        12 345, 2.0 MiB; 3 URLs failed"))
      << text;
  EXPECT_NE(
      text.find("rate         1.0 pages/s, 1.0 KiB/s now; 2.0 in the last "
                "minute; 2.5 over 1m 30s\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("memory       1.0 MiB of 1.0 GiB\n"), std::string::npos);
  EXPECT_NE(text.find("checkpoint   number 3, 1.5 s ago\n"), std::string::npos);
  EXPECT_NE(text.find("set          crawl.max_pages = 7\n"), std::string::npos);
  EXPECT_NE(text.find("  -1  out-of-scope 4\n"), std::string::npos) << text;
}

TEST(StatusTextTest, WhatIsMissingOrWrongIsLeftOut) {
  EXPECT_TRUE(Printed("{}").starts_with("state"));
  const std::string text = Printed(R"({
    "state": 7, "pages": "many", "stages": {"a": 1, "b": {"dropped": 3}},
    "hosts": [], "outcomes": {"\u001b[31m": 1}, "settings": {"x": 3}})");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StatusTextTest, AStoppedJobSaysWhy) {
  EXPECT_TRUE(Printed(R"({"state": "stopped", "end": "max-pages"})")
                  .starts_with("state        stopped (max-pages)\n"));
  EXPECT_TRUE(
      Printed(R"({"state": "stopped", "end": null})")
          .starts_with("state        stopped, not at its end: the next run "
                       "goes on\n"));
}

}  // namespace
}  // namespace nephila::cli
