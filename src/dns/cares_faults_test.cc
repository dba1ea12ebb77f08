// What one bad name, domain, family or moment may not spoil for the others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "dns/resolver_testing.h"

namespace nephila::dns {
namespace {

using std::chrono::seconds;
using Question = TestDnsServer::Question;
using Texts = std::vector<std::string>;

class CaresFaultsTest : public ResolverTestOf<ManualClock> {};

TEST_F(CaresFaultsTest, AServerThatDoesNotKnowEdnsIsAskedWithout) {
  for (const uint16_t rcode : {uint16_t{1}, uint16_t{4}}) {
    std::vector<bool> edns;
    servers_.clear();
    settings_.servers.clear();
    resolver_.reset();
    Serve([&](const Question& question) {
      edns.push_back(question.edns);
      TestMessage reply = question.Reply(question.edns ? rcode : 0);
      if (!question.edns) {
        reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
      }
      servers_[0]->Send(question, reply);
    });
    settings_.tries = 1;  // that one does not count
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(Resolve("h" + std::to_string(i) + ".example").outcome,
                Outcome::kFound);
    }
    // A FORMERR c-ares itself follows once, so that we do not see it.
    const ptrdiff_t names = Upstream::kNamesToDropEdns + (rcode == 1 ? 1 : 0);
    EXPECT_EQ(std::count(edns.begin(), edns.end(), true), names);
    EXPECT_EQ(edns.size(), 6U + static_cast<size_t>(names));
    EXPECT_FALSE(edns.back());
  }
}

TEST_F(CaresFaultsTest, EdnsIsTriedAgainAfterAWhile) {
  bool knows = false;
  bool last = false;
  Serve([&](const Question& question) {
    last = question.edns;
    TestMessage reply = question.Reply(question.edns && !knows ? 4 : 0);
    reply.opt = question.edns && knows;
    if (!question.edns || knows) {
      reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    }
    servers_[0]->Send(question, reply);
  });
  int names = 0;
  const auto edns_is_used = [&] {
    const std::string name = "h" + std::to_string(names++) + ".example";
    const size_t before = servers_[0]->questions();
    EXPECT_EQ(Resolve(name).outcome, Outcome::kFound);
    return last || servers_[0]->questions() - before > 1;
  };
  for (size_t i = 0; i < Upstream::kNamesToDropEdns; ++i) {
    EXPECT_TRUE(edns_is_used());
  }
  EXPECT_FALSE(edns_is_used());
  clock_.Advance(Upstream::kWithoutEdns - seconds(1));
  EXPECT_FALSE(edns_is_used());
  // It does not know it yet, and is left in peace again.
  clock_.Advance(seconds(1));
  for (size_t i = 0; i < Upstream::kNamesToDropEdns; ++i) {
    EXPECT_TRUE(edns_is_used());
  }
  EXPECT_FALSE(edns_is_used());
  clock_.Advance(Upstream::kWithoutEdns);
  knows = true;
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(edns_is_used());
}

TEST_F(CaresFaultsTest, OneNameDoesNotEndEdnsForAll) {
  settings_.failure_ttl = seconds(0);
  std::vector<bool> edns;
  Serve([&](const Question& question) {
    edns.push_back(question.edns);
    TestMessage reply = question.Reply();
    reply.opt = question.edns;
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    if (question.name.starts_with("bad")) {
      reply = question.Reply(4);
      // It knows EDNS, what is behind it does not.
      reply.opt = question.name.starts_with("bad-opt");
    }
    servers_[0]->Send(question, reply);
  });
  const auto edns_is_used = [&](const std::string& name) {
    EXPECT_EQ(Resolve(name).outcome, Outcome::kFound);
    return edns.back();
  };
  settings_.tries = 2;
  // The same name again and again.
  for (int i = 0; i < 5; ++i) {
    edns.clear();
    EXPECT_EQ(Resolve("bad.example").outcome, Outcome::kServerFailure);
    EXPECT_EQ(edns, (std::vector<bool>{true, false, false}));
  }
  EXPECT_TRUE(edns_is_used("good.example"));
  // Many names whose replies have EDNS.
  for (int i = 0; i < 5; ++i) {
    Resolve("bad-opt" + std::to_string(i) + ".example");
  }
  EXPECT_TRUE(edns_is_used("good1.example"));
  // Different names, with one that works between them.
  Resolve("bad1.example");
  Resolve("bad2.example");
  EXPECT_TRUE(edns_is_used("good2.example"));
  Resolve("bad3.example");
  Resolve("bad4.example");
  EXPECT_TRUE(edns_is_used("good3.example"));
}

TEST_F(CaresFaultsTest, WhatIsNotUnderstoodWithoutEdnsIsAnAnswer) {
  TestDnsServer& server = Serve([this](const Question& question) {
    servers_[0]->Send(question, question.Reply(question.edns ? 4 : 1));
  });
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kServerFailure);
  // Once with, and then without as often as it may be: each came whole.
  EXPECT_EQ(server.questions(), 4U);
}

TEST_F(CaresFaultsTest, AReferralIsAFailure) {
  Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.authorities = {RecordNs("example", 300, "ns.example")};
    servers_[0]->Send(question, reply);
  });
  const Answer answer = Resolve("a.example");
  EXPECT_EQ(answer.outcome, Outcome::kServerFailure);
  EXPECT_EQ(answer.ttl, seconds(30));
}

TEST_F(CaresFaultsTest, WithoutASocketNobodyIsToBlame) {
  TestDnsServer& server = Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    servers_[0]->Send(question, reply);
  });
  Start();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  {
    const net::Descriptor lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
    none.rlim_cur = static_cast<rlim_t>(lowest.get());
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(Resolve("h" + std::to_string(i) + ".example").outcome,
              Outcome::kOverloaded);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(server.questions(), 0U);
  EXPECT_EQ(resolver_->cache().entries(), 0U);
  const Answer answer = Resolve("h0.example");
  EXPECT_EQ(answer.outcome, Outcome::kFound);
  EXPECT_EQ(answer.source, Source::kAsked);
}

TEST_F(CaresFaultsTest, OnceOneFamilyIsFoundTheOtherIsAskedOnce) {
  settings_.ipv6 = config::Ipv6Mode::kOn;
  for (const bool found_first : {true, false}) {
    servers_.clear();
    settings_.servers.clear();
    resolver_.reset();
    std::vector<Question> asked;
    TestDnsServer& server = Serve([&](const Question& question) {
      asked.push_back(question);
      if (asked.size() != 2) {
        if (asked.size() > 2) servers_[0]->Send(question, question.Reply(5));
        return;
      }
      if (asked[0].type != (found_first ? kTypeA : kTypeAaaa)) {
        std::swap(asked[0], asked[1]);
      }
      for (const Question& one : asked) {
        TestMessage reply = one.Reply(one.type == kTypeA ? 0 : 5);
        if (one.type == kTypeA) {
          reply.answers = {RecordA(one.name, 300, "8.8.8.8")};
        }
        servers_[0]->Send(one, reply);
      }
    });
    const Answer answer = Resolve("half.example");
    EXPECT_EQ(AddressTexts(answer), Texts{"8.8.8.8"});
    EXPECT_EQ(answer.ttl, seconds(30));
    EXPECT_EQ(server.questions(), 2U);
  }
}

TEST_F(CaresFaultsTest, FreshNamesDoNotWaitForAllRetries) {
  settings_.max_in_flight = 1;
  std::vector<std::string> asked;
  Serve([&](const Question& question) {
    asked.push_back(question.name);
    servers_[0]->Send(question, question.Reply(2));
  });
  Start();
  for (const std::string_view name : {"a.example", "b.example", "c.example"}) {
    Ask(name);
  }
  RunUntil([&] { return answers_.size() == 3; });
  EXPECT_EQ(asked, (Texts{"a.example", "a.example", "b.example", "a.example",
                          "c.example", "b.example", "c.example", "b.example",
                          "c.example"}));
}

TEST_F(CaresFaultsTest, ADeadDomainLeavesRoomForTheRest) {
  settings_.max_in_flight = 20;  // so two of one domain
  std::vector<Question> dead;
  Serve([&](const Question& question) {
    if (question.name.ends_with("dead.co.uk")) {
      dead.push_back(question);
      return;
    }
    TestMessage reply = question.Reply();
    reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
    servers_[0]->Send(question, reply);
  });
  Start();
  for (int i = 0; i < 30; ++i) Ask("h" + std::to_string(i) + ".dead.co.uk");
  for (int i = 0; i < 5; ++i) Ask("h" + std::to_string(i) + ".co.uk");
  RunUntil([&] { return answers_.size() == 5; });
  EXPECT_EQ(dead.size(), 2U);
  // Each that ends lets another one go, in their order.
  for (size_t i = 0; i < 30; ++i) {
    RunUntil([&] { return dead.size() == std::min<size_t>(i + 2, 30); });
    EXPECT_EQ(dead[i].name, "h" + std::to_string(i) + ".dead.co.uk");
    servers_[0]->Send(dead[i], dead[i].Reply(3));
    RunUntil([&] { return answers_.size() == 6 + i; });
  }
  EXPECT_EQ(resolver_->in_flight(), 0U);
}

}  // namespace
}  // namespace nephila::dns
