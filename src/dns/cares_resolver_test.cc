// The resolver against a real server: every kind of answer. Time stands still;
// what needs it is in cares_limits_test.cc.
#include "dns/cares_resolver.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "dns/resolver_testing.h"

namespace nephila::dns {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Question = TestDnsServer::Question;
using Texts = std::vector<std::string>;

class CaresResolverTest : public ResolverTestOf<ManualClock> {
 protected:
  // A server that has these records under every name.
  TestDnsServer& ServeRecords(const std::vector<TestRecord>& records,
                              uint16_t rcode = 0) {
    return Serve([this, records, rcode](const Question& question) {
      TestMessage reply = question.Reply(rcode);
      for (const TestRecord& record : records) {
        if (record.type == kTypeSoa) {
          reply.authorities.push_back(record);
        } else if (record.type == question.type || record.type == kTypeCname) {
          reply.answers.push_back(record);
        }
      }
      servers_[0]->Send(question, reply);
    });
  }
};

TEST_F(CaresResolverTest, FindsAddresses) {
  TestDnsServer& server =
      ServeRecords({RecordCname("www.example", 300, "cdn.example"),
                    RecordA("cdn.example", 600, "8.8.8.8"),
                    RecordA("cdn.example", 600, "8.8.4.4")});
  const Answer answer = Resolve("WWW.example.");
  EXPECT_EQ(answer.outcome, Outcome::kFound);
  EXPECT_EQ(AddressTexts(answer), (Texts{"8.8.8.8", "8.8.4.4"}));
  EXPECT_TRUE(answer.refused.empty());
  EXPECT_EQ(answer.ttl, seconds(300));
  EXPECT_EQ(answer.source, Source::kAsked);
  ASSERT_TRUE(answer.server.has_value());
  EXPECT_EQ(answer.server->ToString(), server.Address());
  EXPECT_EQ(answer.records,
            "20260101000000\n"
            "www.example.\t300\tIN\tCNAME\tcdn.example.\n"
            "cdn.example.\t600\tIN\tA\t8.8.8.8\n"
            "cdn.example.\t600\tIN\tA\t8.8.4.4\n");
  EXPECT_EQ(server.questions(), 1U);
}

TEST_F(CaresResolverTest, RemembersForTheTimeThatItHolds) {
  TestDnsServer& server = ServeRecords({RecordA("a.example", 300, "8.8.8.8")});
  Resolve("a.example");
  clock_.Advance(seconds(299));
  const Answer again = Resolve("A.example");
  EXPECT_EQ(again.source, Source::kCache);
  EXPECT_EQ(AddressTexts(again), Texts{"8.8.8.8"});
  EXPECT_EQ(again.ttl, seconds(1));
  EXPECT_EQ(again.records, "");
  EXPECT_TRUE(again.server.has_value());
  EXPECT_EQ(server.questions(), 1U);
  clock_.Advance(seconds(1));
  EXPECT_EQ(Resolve("a.example").source, Source::kAsked);
  EXPECT_EQ(server.questions(), 2U);
  EXPECT_EQ(resolver_->counters().cache_hits.value(), 1U);
}

TEST_F(CaresResolverTest, TimesAreKeptWithinTheSettings) {
  uint32_t ttl = 1;
  Serve([&](const Question& question) {
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, ttl, "8.8.8.8")};
    servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(Resolve("short.example").ttl, minutes(1));
  ttl = 0x7fffffff;
  EXPECT_EQ(Resolve("long.example").ttl, hours(24));
}

TEST_F(CaresResolverTest, TimesOfOnesOwnHoldToo) {
  settings_.min_ttl = seconds(5);
  settings_.max_ttl = hours(2);
  settings_.negative_ttl = minutes(10);
  uint32_t ttl = 1;
  uint16_t rcode = 0;
  Serve([&](const Question& question) {
    TestMessage reply = question.Reply(rcode);
    if (rcode == 0) reply.answers = {RecordA(question.name, ttl, "8.8.8.8")};
    if (rcode != 0) reply.authorities = {RecordSoa("example", 86'400, 86'400)};
    servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(Resolve("short.example").ttl, seconds(5));
  ttl = 86'400;
  EXPECT_EQ(Resolve("long.example").ttl, hours(2));
  rcode = 3;
  EXPECT_EQ(Resolve("no.example").ttl, minutes(10));
}

TEST_F(CaresResolverTest, ANameThatDoesNotExistIsRememberedAsLongAsItsSoaSays) {
  TestDnsServer& server = ServeRecords({RecordSoa("example", 3600, 900)}, 3);
  const Answer answer = Resolve("no.example");
  EXPECT_EQ(answer.outcome, Outcome::kNoSuchName);
  EXPECT_EQ(answer.ttl, seconds(900));
  EXPECT_EQ(answer.records, "");
  EXPECT_TRUE(IsAboutName(answer.outcome));
  clock_.Advance(seconds(899));
  EXPECT_EQ(Resolve("no.example").source, Source::kCache);
  EXPECT_EQ(server.questions(), 1U);
  clock_.Advance(seconds(1));
  Resolve("no.example");
  EXPECT_EQ(server.questions(), 2U);
}

TEST_F(CaresResolverTest, AbsenceIsBoundedBothWays) {
  ServeRecords({RecordSoa("example", 86'400, 86'400)}, 3);
  EXPECT_EQ(Resolve("no.example").ttl, hours(1));
  // Outside of the zone the SOA says nothing.
  EXPECT_EQ(Resolve("no.other").ttl, minutes(1));
}

TEST_F(CaresResolverTest, ANameWithoutAnAddress) {
  ServeRecords({RecordSoa("example", 300, 300)});
  const Answer answer = Resolve("mail.example");
  EXPECT_EQ(answer.outcome, Outcome::kNoAddress);
  EXPECT_EQ(answer.ttl, seconds(300));
}

TEST_F(CaresResolverTest, AFailingServerIsAskedAgainAndThenLeftAlone) {
  TestDnsServer& server = ServeRecords({}, 2);
  const Answer answer = Resolve("broken.example");
  EXPECT_EQ(answer.outcome, Outcome::kServerFailure);
  EXPECT_EQ(answer.ttl, seconds(30));
  EXPECT_FALSE(IsAboutName(answer.outcome));
  EXPECT_EQ(server.questions(), 3U);
  EXPECT_EQ(resolver_->counters().questions.value(), 3U);
  EXPECT_EQ(resolver_->counters().retries.value(), 2U);
  EXPECT_EQ(Resolve("broken.example").source, Source::kCache);
  EXPECT_EQ(server.questions(), 3U);
}

TEST_F(CaresResolverTest, AServerThatRefuses) {
  ServeRecords({}, 5);
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kServerRefused);
}

TEST_F(CaresResolverTest, AServerThatFailsOnceIsForgiven) {
  size_t asked = 0;
  Serve([&](const Question& question) {
    TestMessage reply = question.Reply(++asked == 1 ? 5 : 0);
    if (asked > 1) reply.answers = {RecordA("a.example", 300, "8.8.8.8")};
    servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kFound);
  EXPECT_EQ(asked, 2U);
}

TEST_F(CaresResolverTest, AnotherServerIsAskedWhereOneFails) {
  TestDnsServer& bad = Serve([this](const Question& question) {
    servers_[0]->Send(question, question.Reply(5));
  });
  Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    servers_[1]->Send(question, reply);
  });
  const Answer answer = Resolve("a.example");
  EXPECT_EQ(answer.outcome, Outcome::kFound);
  EXPECT_EQ(answer.server->ToString(), servers_[1]->Address());
  EXPECT_EQ(bad.questions(), 1U);
}

TEST_F(CaresResolverTest, ATruncatedAnswerIsAskedForByTcp) {
  TestDnsServer& server = Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    if (question.tcp) {
      for (int i = 0; i < 40; ++i) {
        reply.answers.push_back(
            RecordA(question.name, 300, "8.8.8." + std::to_string(i)));
      }
    } else {
      reply.flags |= 0x0200;
    }
    servers_[0]->Send(question, reply);
  });
  // Of forty those that are within the bound.
  EXPECT_EQ(Resolve("many.example").addresses.size(), 32U);
  EXPECT_EQ(resolver_->counters().addresses_dropped.value(), 8U);
  EXPECT_EQ(server.by_tcp(), 1U);
  EXPECT_EQ(server.questions(), 2U);
}

TEST_F(CaresResolverTest, ALargeAnswerFitsIntoUdp) {
  std::vector<TestRecord> records;
  records.reserve(30);
  for (int i = 0; i < 30; ++i) {
    records.push_back(
        RecordA("large.example", 300, "8.8.8." + std::to_string(i)));
  }
  TestDnsServer& server = ServeRecords(records);
  EXPECT_EQ(Resolve("large.example").addresses.size(), 30U);
  EXPECT_EQ(server.by_tcp(), 0U);
}

TEST_F(CaresResolverTest, AConnectionThatEndsIsAFailure) {
  Serve([this](const Question& question) {
    if (question.tcp) {
      servers_[0]->Close(question);
      return;
    }
    TestMessage reply = question.Reply();
    reply.flags |= 0x0200;
    servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(Resolve("many.example").outcome, Outcome::kServerFailure);
}

TEST_F(CaresResolverTest, BrokenAnswersAreNamed) {
  ServeRecords({RecordCname("a.example", 300, "b.example"),
                RecordCname("b.example", 300, "a.example")});
  const Answer circle = Resolve("a.example");
  EXPECT_EQ(circle.outcome, Outcome::kBadAnswer);
  EXPECT_EQ(circle.why, "aliases in a circle");
  EXPECT_EQ(servers_[0]->questions(), 3U);
}

TEST_F(CaresResolverTest, GarbageBehindTheQuestionIsABadAnswer) {
  Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    std::string bytes = reply.Bytes();
    bytes.resize(bytes.size() - 2);
    servers_[0]->Send(question, bytes);
  });
  EXPECT_EQ(Resolve("a.example").why, "a broken record");
}

TEST_F(CaresResolverTest, WhatDoesNotBelongToTheQuestionIsNotTaken) {
  Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, 300, "6.6.6.6")};
    reply.id = static_cast<uint16_t>(question.id + 1);
    servers_[0]->Send(question, reply);
    reply.id = question.id;
    reply.question = QuestionBytes("b.example", kTypeA);
    servers_[0]->Send(question, reply);
    servers_[0]->Send(question, std::string("\0", 1));
    servers_[0]->Send(question, std::string(300, '\xff'));
    reply.question = question.wire;
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(AddressTexts(Resolve("a.example")), Texts{"8.8.8.8"});
  EXPECT_EQ(servers_[0]->questions(), 1U);
}

TEST_F(CaresResolverTest, AddressesThatAreNotPublicAreRefusedAndNamed) {
  ServeRecords({RecordA("a.example", 300, "10.0.0.1"),
                RecordA("a.example", 300, "8.8.8.8"),
                RecordA("a.example", 300, "169.254.169.254")});
  const Answer mixed = Resolve("a.example");
  EXPECT_EQ(mixed.outcome, Outcome::kFound);
  EXPECT_EQ(AddressTexts(mixed), Texts{"8.8.8.8"});
  ASSERT_EQ(mixed.refused.size(), 2U);
  EXPECT_EQ(mixed.refused[0].address.ToString(), "10.0.0.1");
  EXPECT_EQ(mixed.refused[0].block, "private use");
  EXPECT_EQ(mixed.refused[1].block, "link-local");
  EXPECT_EQ(resolver_->counters().addresses_refused.value(), 2U);
  // From the cache too.
  EXPECT_EQ(Resolve("a.example").refused, mixed.refused);
}

TEST_F(CaresResolverTest, OnlyRefusedAddressesAreAnOutcomeOfTheirOwn) {
  ServeRecords({RecordA("rebound.example", 1, "127.0.0.1")});
  const Answer answer = Resolve("rebound.example");
  EXPECT_EQ(answer.outcome, Outcome::kAddressesRefused);
  EXPECT_TRUE(answer.addresses.empty());
  EXPECT_EQ(answer.refused.size(), 1U);
  // The archive shows what was said.
  EXPECT_NE(answer.records.find("127.0.0.1"), std::string::npos);
}

TEST_F(CaresResolverTest, WhatIsAllowedIsNotRefused) {
  Allow("127.0.0.0/8");
  ServeRecords({RecordA("a.example", 300, "127.3.4.5"),
                RecordA("a.example", 300, "10.0.0.1")});
  const Answer answer = Resolve("a.example");
  EXPECT_EQ(AddressTexts(answer), Texts{"127.3.4.5"});
  EXPECT_EQ(answer.refused.size(), 1U);
}

TEST_F(CaresResolverTest, AsksForBothFamiliesAndTriesThemInTheOrderSet) {
  struct Case {
    config::Ipv6Mode mode;
    Texts want;
    size_t questions;
  };
  TestDnsServer& server =
      ServeRecords({RecordA("a.example", 300, "8.8.8.8"),
                    RecordAaaa("a.example", 400, "2606:4700::1")});
  size_t before = 0;
  for (const auto& [mode, want, questions] :
       {Case{config::Ipv6Mode::kOff, {"8.8.8.8"}, 1},
        Case{config::Ipv6Mode::kOn, {"8.8.8.8", "2606:4700::1"}, 2},
        Case{config::Ipv6Mode::kPrefer, {"2606:4700::1", "8.8.8.8"}, 2},
        Case{config::Ipv6Mode::kOnly, {"2606:4700::1"}, 1}}) {
    settings_.ipv6 = mode;
    resolver_.reset();
    const Answer answer = Resolve("a.example");
    EXPECT_EQ(AddressTexts(answer), want);
    EXPECT_EQ(server.questions() - before, questions);
    before = server.questions();
    if (mode == config::Ipv6Mode::kOn) {
      EXPECT_EQ(answer.records,
                "20260101000000\n"
                "a.example.\t300\tIN\tA\t8.8.8.8\n"
                "a.example.\t400\tIN\tAAAA\t2606:4700::1\n");
    }
  }
}

TEST_F(CaresResolverTest, OneFamilyIsEnough) {
  settings_.ipv6 = config::Ipv6Mode::kOn;
  Serve([this](const Question& question) {
    const bool v4 = question.type == kTypeA;
    if (question.name == "half.example") {
      TestMessage reply = question.Reply(v4 ? 0 : 5);
      if (v4) reply.answers = {RecordA(question.name, 3600, "8.8.8.8")};
      servers_[0]->Send(question, reply);
    } else {
      servers_[0]->Send(question, question.Reply(v4 ? 0 : 5));
    }
  });
  const Answer half = Resolve("half.example");
  EXPECT_EQ(half.outcome, Outcome::kFound);
  EXPECT_EQ(half.ttl, seconds(30));  // the other half may come back
  // No address of one, and of the other nobody knows: that is a failure.
  EXPECT_EQ(Resolve("none.example").outcome, Outcome::kServerRefused);
}

TEST_F(CaresResolverTest, AddressesNeedNoServer) {
  settings_.servers = {"127.0.0.1:1"};
  settings_.ipv6 = config::Ipv6Mode::kOn;
  const Answer v4 = Resolve("8.8.8.8");
  EXPECT_EQ(v4.outcome, Outcome::kFound);
  EXPECT_EQ(v4.source, Source::kKnown);
  EXPECT_EQ(v4.ttl, hours(24));
  EXPECT_EQ(AddressTexts(v4), Texts{"8.8.8.8"});
  EXPECT_EQ(AddressTexts(Resolve("[2606:4700::1]")), Texts{"2606:4700::1"});
  EXPECT_EQ(AddressTexts(Resolve("2606:4700::1")), Texts{"2606:4700::1"});
  EXPECT_EQ(Resolve("127.0.0.1").outcome, Outcome::kAddressesRefused);
  EXPECT_EQ(Resolve("[::1]").outcome, Outcome::kAddressesRefused);
  EXPECT_EQ(Resolve("[::ffff:8.8.8.8]").outcome, Outcome::kAddressesRefused);
  EXPECT_EQ(resolver_->counters().questions.value(), 0U);
}

TEST_F(CaresResolverTest, AddressesOfTheOtherFamilyAreNone) {
  settings_.servers = {"127.0.0.1:1"};
  EXPECT_EQ(Resolve("[2606:4700::1]").outcome, Outcome::kNoAddress);
  settings_.ipv6 = config::Ipv6Mode::kOnly;
  resolver_.reset();
  EXPECT_EQ(Resolve("8.8.8.8").outcome, Outcome::kNoAddress);
}

TEST_F(CaresResolverTest, SomeNamesAreNeverAskedFor) {
  settings_.servers = {"127.0.0.1:1"};
  EXPECT_EQ(Resolve("x.onion").outcome, Outcome::kNoSuchName);
  EXPECT_EQ(Resolve("localhost").outcome, Outcome::kAddressesRefused);
  Allow("127.0.0.0/8");
  resolver_.reset();
  EXPECT_EQ(AddressTexts(Resolve("a.LOCALHOST.")), Texts{"127.0.0.1"});
  for (const std::string_view host :
       {"", "a..b", "[::1", "::1]", "a b", "[fe80::1%1]"}) {
    EXPECT_EQ(Resolve(host).outcome, Outcome::kBadName) << host;
  }
}

TEST_F(CaresResolverTest, SettingsThatCannotBeAreErrorsOfOneLine) {
  for (const std::string_view server :
       {"resolver.example", "127.0.0.1:0", ""}) {
    settings_.servers = {std::string(server)};
    const auto made = CaresResolver::Make(*loop_, guard_, settings_);
    ASSERT_FALSE(made);
    EXPECT_TRUE(made.error().message.starts_with("dns.servers: ")) << server;
  }
  settings_.servers.assign(65, "127.0.0.1");
  EXPECT_FALSE(CaresResolver::Make(*loop_, guard_, settings_));
}

TEST_F(CaresResolverTest, ServersAreReadWithTheirPorts) {
  settings_.servers = {"127.0.0.1", "[::1]:5353"};
  Start();
  const auto servers = resolver_->Servers();
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0].ToString(), "127.0.0.1:53");
  EXPECT_EQ(servers[1].ToString(), "[::1]:5353");
}

TEST(SystemServers, AreThoseOfTheFile) {
  const std::string path =
      testing::TempDir() + "nephila_resolv.conf." + std::to_string(getpid());
  const auto servers_of = [&](std::string_view text) {
    std::ofstream(path) << text;
    const auto servers = SystemServers(path);
    EXPECT_TRUE(servers);
    Texts texts;
    if (!servers) return texts;
    for (const auto& server : *servers) texts.push_back(server.ToString());
    return texts;
  };
  EXPECT_EQ(servers_of("# ours\nsearch example\nnameserver 192.0.2.7\n"
                       "nameserver 2001:db8::7\n"),
            (Texts{"192.0.2.7:53", "[2001:db8::7]:53"}));
  // Where the file names none it is this machine (resolv.conf(5)).
  EXPECT_EQ(servers_of("search example\n"), Texts{"127.0.0.1:53"});
  std::remove(path.c_str());
}

}  // namespace
}  // namespace nephila::dns
