#include "sim/dns_server.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "sim/dns_message.h"
#include "sim/dns_zone.h"
#include "sim/socket_testing.h"

namespace nephila::sim {
namespace {

constexpr const char* kRules = R"(
[[rule]]
host = "gone.example"
behaviour = "nxdomain"
[[rule]]
host = "broken.example"
behaviour = "servfail"
[[rule]]
host = "silent.example"
behaviour = "dns-timeout"
[[rule]]
host = "*.wild.example"
behaviour = "wildcard"
[[rule]]
host = "private.example"
behaviour = "address"
addresses = ["10.0.0.1", "169.254.169.254", "fd00::1"]
ttl = 5
[[rule]]
host = "rebind.example"
behaviour = "rebind"
addresses = ["192.168.0.1"]
count = 2
[[rule]]
host = "long.example"
behaviour = "truncate"
[[rule]]
host = "late.example"
behaviour = "dns-slow"
delay = "300ms"
[[rule]]
host = "drip.example"
behaviour = "dns-drip"
delay = "5ms"
)";

Site MakeSite() {
  auto scenario = ParseScenario(kRules, "s");
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return *Site::Make(*std::move(scenario));
}

std::string Query(std::string_view name, uint16_t type) {
  std::string query("\0\7\1\0\0\1\0\0\0\0\0\0", 12);
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    query += static_cast<char>(dot);
    query += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  query += '\0';
  query += '\0';
  query += static_cast<char>(type);
  return query.append("\0\1", 2);
}

TEST(DnsZoneTest, KnowsTheHostsOfTheWeb) {
  const Site site = MakeSite();
  DnsZone zone(site);
  std::string host;
  site.web().AppendHostName({4, 0}, &host);
  const DnsAnswer answer = zone.Find(host);
  EXPECT_EQ(answer.rcode, Rcode::kNoError);
  const AddressList list = site.web().AddressesOf({4, 0});
  EXPECT_EQ(answer.v4,
            std::vector<uint32_t>(list.span().begin(), list.span().end()));
  EXPECT_EQ(zone.Find("www.example.com").rcode, Rcode::kNxDomain);
}

TEST(DnsZoneTest, BehavesAsTheScenarioSays) {
  const Site site = MakeSite();
  DnsZone zone(site);
  EXPECT_EQ(zone.Find("gone.example").rcode, Rcode::kNxDomain);
  EXPECT_EQ(zone.Find("broken.example").rcode, Rcode::kServFail);
  EXPECT_TRUE(zone.Find("silent.example").silent);
  EXPECT_EQ(zone.Find("any.thing.wild.example").v4.size(), 1U);
  EXPECT_EQ(zone.Find("wild.example").rcode, Rcode::kNxDomain);
  const DnsAnswer given = zone.Find("private.example");
  EXPECT_EQ(given.v4, (std::vector<uint32_t>{0x0A000001, 0xA9FEA9FE}));
  ASSERT_EQ(given.v6.size(), 1U);
  EXPECT_EQ(given.v6[0][0], 0xFD);
  EXPECT_EQ(given.ttl, 5U);
  EXPECT_TRUE(zone.Find("long.example").truncate);
}

TEST(DnsZoneTest, RebindsAfterItsFirstAnswers) {
  const Site site = MakeSite();
  DnsZone zone(site);
  for (int i = 0; i < 2; ++i) {
    const DnsAnswer own = zone.Find("rebind.example");
    EXPECT_EQ(own.v4.at(0) >> 24, 127U);
    EXPECT_EQ(own.ttl, 0U);
  }
  EXPECT_EQ(zone.Find("rebind.example").v4, std::vector<uint32_t>{0xC0A80001});
}

class DnsServerTest : public testing::Test {
 protected:
  DnsServerTest() : site_(MakeSite()) {
    log_ = *RequestLog::Create(fs_, "log", clock_);
    auto server = DnsServer::Start(site_, log_.get(), 0);
    EXPECT_TRUE(server);
    server_ = *std::move(server);
  }

  std::string AskUdp(const std::string& query) const {
    Client client("127.0.0.1", server_->port(), SOCK_DGRAM);
    EXPECT_TRUE(client.Send(query));
    return client.Read();
  }

  MemoryFileSystem fs_;
  RealClock clock_;
  Site site_;
  std::unique_ptr<RequestLog> log_;
  std::unique_ptr<DnsServer> server_;
};

TEST_F(DnsServerTest, AnswersByUdp) {
  const std::string answer = AskUdp(Query("private.example", kTypeA));
  EXPECT_EQ(answer.substr(0, 8), std::string("\0\7\x85\x80\0\1\0\2", 8));
  EXPECT_TRUE(answer.ends_with("\xa9\xfe\xa9\xfe"));
  EXPECT_EQ(AskUdp(Query("private.example", kTypeAaaa))[7], 1);
  EXPECT_EQ(AskUdp(Query("nowhere.test", kTypeA))[3] & 15, 3);
}

TEST_F(DnsServerTest, AnswersByTcpWhatUdpCutsOff) {
  const std::string query = Query("long.example", kTypeA);
  const std::string cut = AskUdp(query);
  EXPECT_EQ(cut[2] & 2, 2);
  EXPECT_EQ(cut[7], 0);
  Client client("127.0.0.1", server_->port());
  ASSERT_TRUE(client.connected());
  // Two questions, in parts.
  std::string framed = std::string(1, '\0') + static_cast<char>(query.size());
  framed = framed + query + framed + query;
  ASSERT_TRUE(client.Send(framed.substr(0, 9)));
  ASSERT_TRUE(client.Send(framed.substr(9)));
  std::string answers;
  while (answers.size() < 2 * (2 + query.size() + 16)) {
    const std::string part = client.Read();
    ASSERT_NE(part, "");
    answers += part;
  }
  EXPECT_EQ(static_cast<size_t>(answers[1]), query.size() + 16);
  EXPECT_EQ(answers[2 + 2] & 2, 0);
  EXPECT_EQ(answers[2 + 7], 1);
}

TEST_F(DnsServerTest, AnswersLateWithoutKeepingOthersWaiting) {
  Client client("127.0.0.1", server_->port(), SOCK_DGRAM);
  const MonoTime begin = clock_.Now();
  ASSERT_TRUE(client.Send(Query("late.example", kTypeA)));
  ASSERT_TRUE(client.Send(Query("private.example", kTypeA)));
  EXPECT_NE(client.Read().find("private"), std::string::npos);
  EXPECT_NE(client.Read().find("late"), std::string::npos);
  EXPECT_GE(clock_.Now() - begin, std::chrono::milliseconds(300));
}

TEST_F(DnsServerTest, DripsItsAnswerByTcp) {
  const std::string query = Query("drip.example", kTypeA);
  EXPECT_EQ(AskUdp(query)[2] & 2, 2);
  Client client("127.0.0.1", server_->port());
  const MonoTime begin = clock_.Now();
  ASSERT_TRUE(client.Send(std::string(1, '\0') +
                          static_cast<char>(query.size()) + query));
  std::string answer;
  while (answer.size() < 2 + query.size() + 16) {
    const std::string part = client.Read();
    ASSERT_NE(part, "");
    answer += part;
  }
  EXPECT_GE(clock_.Now() - begin,
            std::chrono::milliseconds(5) * static_cast<int>(answer.size()));
  EXPECT_EQ(static_cast<size_t>(answer[1]), query.size() + 16);
}

TEST_F(DnsServerTest, ClosesOnQuestionsThatAreTooLong) {
  Client client("127.0.0.1", server_->port());
  ASSERT_TRUE(client.Send("\xff\xff"));
  EXPECT_EQ(client.Read(), "");
}

TEST_F(DnsServerTest, SaysWhatIsWrongWithAQuestion) {
  std::string broken = Query("a", kTypeA);
  broken[5] = 2;
  EXPECT_EQ(AskUdp(broken), std::string("\0\7\x85\x81\0\0\0\0\0\0\0\0", 12));
}

TEST_F(DnsServerTest, StaysSilentAndLogsIt) {
  Client client("127.0.0.1", server_->port(), SOCK_DGRAM);
  ASSERT_TRUE(client.Send(Query("silent.example", kTypeA)));
  ASSERT_TRUE(client.Send(Query("gone.example", kTypeA)));
  // Only the second is answered.
  EXPECT_NE(client.Read().find("gone"), std::string::npos);
  server_->Stop();
  ASSERT_TRUE(log_->Flush());
  const std::string log = *ReadWholeFile(fs_, "log", 10'000);
  EXPECT_NE(log.find(" A silent.example silent\n"), std::string::npos);
  EXPECT_NE(log.find(" A gone.example nxdomain\n"), std::string::npos);
}

}  // namespace
}  // namespace nephila::sim
