#include "bench/tar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/tar_testing.h"

namespace nephila::bench {
namespace {

TEST(Tar, HasItsRegularFilesAndLongNames) {
  const std::string long_name(120, 'n');
  const std::string tar =
      TarMember("folder/", '5', "") + TarMember("a/b.html", '0', "abc") +
      TarMember("././@LongLink", 'L', long_name) +
      TarMember("nnn", '0', std::string(513, 'q')) +
      TarMember("c", '0', "", "a/long/way") + std::string(1024, '\0');
  std::vector<std::string> seen;
  auto take = [&seen](std::string_view name, std::string_view body) {
    seen.push_back(std::string(name) + "=" + std::to_string(body.size()));
  };
  ASSERT_TRUE(ForEachTarFile(tar, take).has_value());
  EXPECT_EQ(seen, (std::vector<std::string>{"a/b.html=3", long_name + "=513",
                                            "a/long/way/c=0"}));
  EXPECT_TRUE(ForEachTarFile("", take).has_value());
}

TEST(Tar, IsRefusedIfItIsCut) {
  const std::string tar = TarMember("a", '0', std::string(600, 'x'));
  auto take = [](std::string_view, std::string_view) {};
  EXPECT_FALSE(
      ForEachTarFile(std::string_view(tar).substr(0, 1024), take).has_value());
}

}  // namespace
}  // namespace nephila::bench
