#include "net/port_guard.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::net {
namespace {

TEST(PortGuard, RefusesEveryPortOfTheFetchStandard) {
  const PortGuard guard{config::UrlSettings()};
  EXPECT_EQ(PortGuard::BadPorts().size(), 82U);
  for (const uint16_t port : PortGuard::BadPorts()) {
    EXPECT_TRUE(guard.Refuses(port)) << port;
    EXPECT_TRUE(guard.Refuses(std::to_string(port))) << port;
  }
  for (const char* port : {"1", "25", "6000", "6665", "6669", "10080", "0"}) {
    EXPECT_TRUE(guard.Refuses(port)) << port;
  }
}

TEST(PortGuard, AllowsDefaultAndOtherPorts) {
  const PortGuard guard{config::UrlSettings()};
  for (const char* port : {"", "80", "443", "2", "8080", "6664", "65535"}) {
    EXPECT_FALSE(guard.Refuses(port)) << port;
  }
}

TEST(PortGuard, AllowsListedPorts) {
  config::UrlSettings settings;
  settings.allow_ports = {"6667", "25"};
  ASSERT_TRUE(PortGuard::Check(settings));
  const PortGuard guard(settings);
  EXPECT_FALSE(guard.Refuses("6667"));
  EXPECT_FALSE(guard.Refuses("25"));
  EXPECT_TRUE(guard.Refuses("6668"));
}

TEST(PortGuard, NamesTheItemThatIsNotAPort) {
  for (const char* item : {"", "0", "65536", "-1", "irc", "80x", " 80"}) {
    config::UrlSettings settings;
    settings.allow_ports = {"25", item};
    const Status checked = PortGuard::Check(settings);
    ASSERT_FALSE(checked) << item;
    EXPECT_NE(checked.error().message.find("url.allow_ports"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace nephila::net
