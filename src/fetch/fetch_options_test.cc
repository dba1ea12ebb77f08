#include "fetch/fetch_options.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::fetch {
namespace {

class FetchOptionsTest : public testing::Test {
 protected:
  void ExpectError(std::string_view begin) const {
    const auto options = FetchOptions::Make(agent_, fetch_);
    ASSERT_FALSE(options.has_value()) << begin;
    EXPECT_TRUE(options.error().message.starts_with(begin))
        << options.error().message;
    EXPECT_EQ(options.error().message.find('\n'), std::string::npos);
  }

  config::AgentSettings agent_;
  config::FetchSettings fetch_;
};

TEST_F(FetchOptionsTest, DefaultsAreReady) {
  const auto options = FetchOptions::Make(agent_, fetch_);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_TRUE(options->agent_fields.starts_with("User-Agent: nephila\r\n"));
  EXPECT_EQ(options->agent_fields.find("From"), std::string::npos);
  EXPECT_NE(options->trust, nullptr);
}

TEST_F(FetchOptionsTest, TheAgentNamesItsContact) {
  agent_.name = "mybot/2.0";
  agent_.contact = "mailto:me@example.org";
  EXPECT_EQ(UserAgent(agent_), "mybot/2.0 (+mailto:me@example.org)");
}

TEST_F(FetchOptionsTest, ValuesThatNoHeaderMayHold) {
  agent_.contact = "a\nb";
  ExpectError("agent.contact: ");
  agent_.contact = "";
  fetch_.accept_encoding = "gzip\r\nX: y";
  ExpectError("fetch.accept_encoding: ");
}

TEST_F(FetchOptionsTest, ANameThatRobotsFilesCannotHave) {
  agent_.name = "/1.0";
  ExpectError("agent.name: ");
}

TEST_F(FetchOptionsTest, ProxiesAreAddresses) {
  for (const char* const proxy :
       {"proxy.example:80", "http://proxy.example:3128", "ftp://127.0.0.1:1",
        "http://", "127.0.0.1:3128"}) {
    fetch_.proxy = proxy;
    ExpectError("fetch.proxy: ");
  }
  fetch_.proxy = "socks5://[::1]:1080";
  EXPECT_TRUE(FetchOptions::Make(agent_, fetch_).has_value());
}

TEST_F(FetchOptionsTest, SourcesAreAddressesOneOfAFamily) {
  fetch_.source_addresses = {"eth0"};
  ExpectError("fetch.source_addresses: ");
  fetch_.source_addresses = {"10.0.0.1", "10.0.0.2", "fd00::1"};
  const auto options = FetchOptions::Make(agent_, fetch_);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->source_v4->ToString(), "10.0.0.1");
  EXPECT_EQ(options->source_v6->ToString(), "fd00::1");
}

TEST_F(FetchOptionsTest, CertificatesAreNeeded) {
  fetch_.ca_file = "/dev/null";
  ExpectError("fetch.ca_file: ");
}

}  // namespace
}  // namespace nephila::fetch
