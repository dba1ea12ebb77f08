// The resolver's limits: time, questions in flight, their rate, names that
// wait, servers that are not there. Short times on a real clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "dns/resolver_testing.h"

namespace nephila::dns {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Question = TestDnsServer::Question;

// A real clock that the test may set forward.
class JumpingClock final : public Clock {
 public:
  MonoTime Now() const override { return real_.Now() + jumped_; }
  WallTime WallNow() const override { return real_.WallNow() + jumped_; }
  Result<std::string> BootId() const override { return real_.BootId(); }
  bool WaitUntil(CondVar& changed, Mutex& mutex,
                 MonoTime deadline) const override NEPHILA_REQUIRES(mutex) {
    return real_.WaitUntil(changed, mutex, deadline - jumped_);
  }
  void Jump(std::chrono::nanoseconds delta) { jumped_ += delta; }

 private:
  const RealClock real_{};
  std::chrono::nanoseconds jumped_{0};
};

TestMessage Found(const Question& question) {
  TestMessage reply = question.Reply();
  reply.answers = {RecordA(question.name, 300, "8.8.8.8")};
  return reply;
}

class CaresLimitsTest : public ResolverTestOf<RealClock> {};
class CaresJumpTest : public ResolverTestOf<JumpingClock> {};

class CaresRateTest : public ResolverTestOf<ManualClock> {};

TEST_F(CaresLimitsTest, SilenceTimesOutAfterAllTries) {
  settings_.timeout = milliseconds(30);
  settings_.tries = 2;
  TestDnsServer& server = Serve([](const Question&) {});
  const Answer answer = Resolve("silent.example");
  EXPECT_EQ(answer.outcome, Outcome::kTimedOut);
  EXPECT_EQ(server.questions(), 2U);
  EXPECT_GE(answer.took, milliseconds(60));
  EXPECT_LT(answer.took, seconds(10));
  EXPECT_EQ(resolver_->in_flight(), 0U);
}

TEST_F(CaresLimitsTest, ASlowAnswerInTimeIsTaken) {
  settings_.timeout = seconds(20);
  Serve([this](const Question& question) {
    loop_->At(clock_.Now() + milliseconds(40), [this, question] {
      servers_[0]->Send(question, Found(question));
    });
  });
  const Answer answer = Resolve("slow.example");
  EXPECT_EQ(answer.outcome, Outcome::kFound);
  EXPECT_GE(answer.took, milliseconds(40));
}

TEST_F(CaresLimitsTest, NamesThatAreNotAnsweredDoNotKeepOthersWaiting) {
  settings_.timeout = hours(1);
  settings_.max_in_flight = 20;
  std::vector<Question> again;
  size_t most_again = 0;
  Serve([&](const Question& question) {
    if (question.name.starts_with("good")) {
      servers_[0]->Send(question, Found(question));
    } else if (!question.edns) {
      again.push_back(question);
    }
    most_again = std::max(most_again, again.size());
  });
  Start();
  // Three times as many as may be in flight, each of a domain of its own.
  for (int i = 0; i < 60; ++i) Ask("silent" + std::to_string(i) + ".example");
  EXPECT_EQ(Resolve("good.example").outcome, Outcome::kFound);
  // Their second tries wait for as long as the settings say, half of all.
  EXPECT_EQ(most_again, 10U);
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(CaresLimitsTest, AnAnswerThatCameInTimeIsTakenByALateLoop) {
  settings_.timeout = milliseconds(10);
  settings_.tries = 1;
  Serve([this](const Question& question) {
    servers_[0]->Send(question, Found(question));
    // The loop is kept from reading it until the time is up.
    const MonoTime end = clock_.Now() + milliseconds(30);
    while (clock_.Now() < end) std::this_thread::yield();
  });
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kFound);
}

TEST_F(CaresLimitsTest, AnAnswerThatComesTooLateIsNotTaken) {
  settings_.timeout = milliseconds(20);
  settings_.tries = 1;
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  EXPECT_EQ(Resolve("late.example").outcome, Outcome::kTimedOut);
  ASSERT_EQ(asked.size(), 1U);
  servers_[0]->Send(asked[0], Found(asked[0]));
  for (int i = 0; i < 5; ++i) loop_->RunOnce(clock_.Now() + milliseconds(1));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(CaresLimitsTest, AServerThatIsSilentAboutEdnsIsAskedWithout) {
  settings_.timeout = milliseconds(20);
  Serve([this](const Question& question) {
    if (!question.edns) servers_[0]->Send(question, Found(question));
  });
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kFound);
  EXPECT_EQ(servers_[0]->questions(), 2U);
}

TEST_F(CaresLimitsTest, ByTcpSilenceTimesOutToo) {
  settings_.timeout = milliseconds(500);  // the connection is made in it
  settings_.tries = 1;
  Serve([this](const Question& question) {
    TestMessage reply = question.Reply();
    reply.flags |= 0x0200;
    if (!question.tcp) servers_[0]->Send(question, reply);
  });
  EXPECT_EQ(Resolve("silent.example").outcome, Outcome::kTimedOut);
  EXPECT_EQ(servers_[0]->by_tcp(), 1U);
}

TEST_F(CaresLimitsTest, WithAServerThatIsNotThereTheOtherIsUsed) {
  const ClosedPort closed;
  settings_.servers = {closed.Address()};
  Serve([this](const Question& question) {
    servers_[0]->Send(question, Found(question));
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Resolve("h" + std::to_string(i) + ".example").outcome,
              Outcome::kFound);
  }
  // It was given up after a few, each of which was asked elsewhere.
  EXPECT_EQ(resolver_->counters().retries.value(), Upstream::kSilencesToRest);
}

TEST_F(CaresJumpTest, AServerThatDoesNotAnswerRestsAndComesBack) {
  settings_.timeout = milliseconds(20);
  settings_.rest = hours(1);
  bool dead = true;
  TestDnsServer& sick = Serve([&](const Question& question) {
    if (!dead) servers_[0]->Send(question, Found(question));
  });
  TestDnsServer& well = Serve([this](const Question& question) {
    servers_[1]->Send(question, Found(question));
  });
  size_t next = 0;
  const auto ask = [&] {
    EXPECT_EQ(Resolve("h" + std::to_string(next++) + ".example").outcome,
              Outcome::kFound);
  };
  while (sick.questions() < Upstream::kSilencesToRest) ask();
  // At rest: the others go to the one that is well.
  const size_t before = well.questions();
  for (int i = 0; i < 20; ++i) ask();
  EXPECT_EQ(sick.questions(), Upstream::kSilencesToRest);
  EXPECT_EQ(well.questions(), before + 20);
  dead = false;
  clock_.Jump(hours(1));
  // One question shows that it is back, then it has its share again.
  for (int i = 0; i < 20; ++i) ask();
  EXPECT_GE(sick.questions(), Upstream::kSilencesToRest + 10);
}

TEST_F(CaresLimitsTest, OneDeadDomainDoesNotRestAServer) {
  settings_.timeout = milliseconds(20);
  settings_.rest = hours(1);
  TestDnsServer& first = Serve([this](const Question& question) {
    if (question.name.ends_with(".dead.example")) return;
    servers_[0]->Send(question, Found(question));
  });
  Serve([this](const Question& question) {
    servers_[1]->Send(question, Found(question));
  });
  Start();
  for (int i = 0; i < 20; ++i) Ask("h" + std::to_string(i) + ".dead.example");
  RunUntil([&] { return answers_.size() == 20; });
  const size_t before = first.questions();
  EXPECT_GE(before, Upstream::kSilencesToRest);
  for (int i = 0; i < 20; ++i) Ask("h" + std::to_string(i) + ".example");
  RunUntil([&] { return answers_.size() == 40; });
  EXPECT_GE(first.questions(), before + 10);
}

TEST_F(CaresLimitsTest, TheOnlyServerIsAskedEvenIfItSeemsDead) {
  settings_.timeout = milliseconds(10);
  settings_.tries = 1;
  settings_.failure_ttl = seconds(0);
  settings_.rest = std::chrono::hours(1);
  bool dead = true;
  Serve([&](const Question& question) {
    if (!dead) servers_[0]->Send(question, Found(question));
  });
  for (size_t i = 0; i < Upstream::kSilencesToRest + 2; ++i) {
    EXPECT_EQ(Resolve("a.example").outcome, Outcome::kTimedOut);
  }
  dead = false;
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kFound);
}

TEST_F(CaresLimitsTest, NoServerAtAllIsAFailure) {
  const ClosedPort closed;
  settings_.servers = {closed.Address()};
  EXPECT_EQ(Resolve("a.example").outcome, Outcome::kServerFailure);
}

TEST_F(CaresLimitsTest, FiveThousandNamesInFlightAtOnce) {
  constexpr size_t kNames = 5'000;
  settings_.max_in_flight = kNames;
  settings_.timeout = std::chrono::minutes(2);
  std::vector<Question> asked;
  Serve([&](const Question& question) {
    asked.push_back(question);
    if (asked.size() < kNames) return;
    // All of them are waiting now.
    EXPECT_EQ(resolver_->in_flight(), kNames);
    for (const Question& one : asked) servers_[0]->Send(one, Found(one));
  });
  Start();
  for (size_t i = 0; i < kNames; ++i) Ask("h" + std::to_string(i) + ".example");
  RunUntil([&] { return answers_.size() == kNames; });
  for (const Answer& answer : answers_) {
    ASSERT_EQ(answer.outcome, Outcome::kFound);
  }
  EXPECT_EQ(servers_[0]->questions(), kNames);
  EXPECT_EQ(resolver_->cache().entries(), kNames);
  // Source ports change: 25 channels of 200 questions.
  std::vector<bool> ports(65'536);
  size_t different = 0;
  for (const Question& one : asked) {
    if (!ports[one.from.sin_port]) ++different;
    ports[one.from.sin_port] = true;
  }
  EXPECT_GE(different, kNames / CaresChannel::kMaxQuestions);
}

TEST_F(CaresLimitsTest, AServerGetsNoMoreThanItMayHave) {
  settings_.max_in_flight = 3;
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  Start();
  for (int i = 0; i < 10; ++i) Ask("h" + std::to_string(i) + ".example");
  size_t done = 0;
  while (done < 10) {
    RunUntil([&] { return asked.size() == std::min<size_t>(done + 3, 10); });
    for (int i = 0; i < 5; ++i) loop_->RunOnce(clock_.Now());
    EXPECT_EQ(asked.size(), std::min<size_t>(done + 3, 10));
    servers_[0]->Send(asked[done], Found(asked[done]));
    ++done;
    RunUntil([&] { return answers_.size() == done; });
  }
}

TEST_F(CaresLimitsTest, IdenticalQuestionsAreJoined) {
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  Start();
  for (int i = 0; i < 5; ++i) Ask(i % 2 == 0 ? "a.example" : "A.EXAMPLE.");
  RunUntil([&] { return !asked.empty(); });
  Ask("a.example");
  servers_[0]->Send(asked[0], Found(asked[0]));
  RunUntil([&] { return answers_.size() == 6; });
  EXPECT_EQ(asked.size(), 1U);
  EXPECT_EQ(answers_[0].source, Source::kAsked);
  EXPECT_FALSE(answers_[0].records.empty());
  for (size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(answers_[i].source, Source::kJoined);
    EXPECT_EQ(answers_[i].addresses, answers_[0].addresses);
    EXPECT_TRUE(answers_[i].records.empty());  // archived once
  }
  EXPECT_EQ(resolver_->counters().joined.value(), 5U);
}

TEST_F(CaresLimitsTest, TooManyNamesAreGivenBackAtOnce) {
  settings_.max_waiting = 2;
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  Start();
  for (const std::string_view host : {"a.example", "b.example", "c.example"}) {
    Ask(host);
  }
  RunUntil([&] { return answers_.size() == 1 && asked.size() == 2; });
  EXPECT_EQ(answers_[0].outcome, Outcome::kOverloaded);
  for (const Question& one : asked) servers_[0]->Send(one, Found(one));
  RunUntil([&] { return answers_.size() == 3; });
  // It is not remembered, and there is room again.
  Ask("c.example");
  RunUntil([&] { return asked.size() == 3; });
  servers_[0]->Send(asked[2], Found(asked[2]));
  RunUntil([&] { return answers_.size() == 4; });
  EXPECT_EQ(answers_[3].outcome, Outcome::kFound);
  const StageTotals totals = resolver_->account().Totals();
  EXPECT_EQ(totals.in, 4U);
  EXPECT_EQ(totals.out, 3U);
  EXPECT_EQ(totals.dropped[static_cast<size_t>(Outcome::kOverloaded) - 1], 1U);
}

TEST_F(CaresLimitsTest, WhatIsCancelledIsAnsweredOnceAndFromTheLoop) {
  settings_.max_in_flight = 1;
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  Start();
  for (const std::string_view host : {"a.example", "b.example", "a.example"}) {
    Ask(host);
  }
  RunUntil([&] { return asked.size() == 1; });
  resolver_->CancelAll();
  EXPECT_TRUE(answers_.empty());
  RunUntil([&] { return answers_.size() == 3; });
  for (const Answer& answer : answers_) {
    EXPECT_EQ(answer.outcome, Outcome::kCancelled);
  }
  EXPECT_EQ(resolver_->in_flight(), 0U);
  // It goes on as before, and the answer to an old question is nobody's.
  Ask("a.example");
  servers_[0]->Send(asked[0], Found(asked[0]));
  RunUntil([&] { return asked.size() == 2; });
  servers_[0]->Send(asked[1], Found(asked[1]));
  RunUntil([&] { return answers_.size() == 4; });
  EXPECT_EQ(answers_[3].outcome, Outcome::kFound);
}

TEST_F(CaresLimitsTest, ItMayGoWhileQuestionsAreInFlight) {
  std::vector<Question> asked;
  Serve([&](const Question& question) { asked.push_back(question); });
  Start();
  Ask("a.example");
  Ask("8.8.8.8");
  RunUntil([&] { return asked.size() == 1; });
  Ask("b.example");
  resolver_.reset();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(loop_->timers(), 0U);
  EXPECT_EQ(loop_->descriptors(), 2U);  // the server's
}

TEST_F(CaresLimitsTest, NothingIsLeftBehindByManyQuestions) {
  settings_.cache_memory_bytes = 0;
  Serve([this](const Question& question) {
    servers_[0]->Send(question, Found(question));
  });
  Start();
  for (int round = 0; round < 20; ++round) {
    answers_.clear();
    for (int i = 0; i < 300; ++i) Ask("h" + std::to_string(i) + ".example");
    RunUntil([&] { return answers_.size() == 300; });
  }
  EXPECT_EQ(servers_[0]->questions(), 6000U);
  // c-ares has closed its sockets, and no timer waits.
  EXPECT_EQ(loop_->descriptors(), 2U);
  EXPECT_EQ(loop_->timers(), 0U);
}

TEST_F(CaresLimitsTest, ACallbackMayAskAgain) {
  Serve([this](const Question& question) {
    servers_[0]->Send(question, Found(question));
  });
  Start();
  int left = 20;
  std::function<void(const Answer&)> again = [&](const Answer& answer) {
    EXPECT_EQ(answer.outcome, Outcome::kFound);
    if (--left > 0) {
      resolver_->Resolve("h" + std::to_string(left / 2) + ".example", again);
    }
  };
  resolver_->Resolve("first.example", again);
  RunUntil([&] { return left == 0; });
}

TEST_F(CaresLimitsTest, OtherThreadsAskThroughTheLoop) {
  Serve([this](const Question& question) {
    servers_[0]->Send(question, Found(question));
  });
  Start();
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string host = "h" + std::to_string(t * 50 + i) + ".example";
        loop_->Post([this, host] { Ask(host); });
      }
    });
  }
  RunUntil([&] { return answers_.size() == 150; });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CaresRateTest, AServerIsAskedNoFasterThanItMay) {
  settings_.rate = 100;
  TestDnsServer& server = Serve([](const Question&) {});
  Start();
  for (int i = 0; i < 50; ++i) Ask("h" + std::to_string(i) + ".example");
  // So many come, whenever the system brings them, and no more.
  const auto expect = [&](size_t questions) {
    RunUntil([&] { return server.questions() >= questions; });
    for (int i = 0; i < 20; ++i) loop_->RunOnce(clock_.Now());
    EXPECT_EQ(server.questions(), questions);
  };
  // What it could have been asked in the last 20 ms, and one.
  expect(3);
  for (size_t i = 1; i <= 5; ++i) {
    clock_.Advance(milliseconds(10));
    expect(3 + i);
  }
  clock_.Advance(milliseconds(9));
  expect(8);
  clock_.Advance(milliseconds(1));
  expect(9);
  resolver_->CancelAll();
  RunUntil([&] { return answers_.size() == 50; });
}

TEST_F(CaresRateTest, TheLoopIsNotKeptByManyQuestions) {
  TestDnsServer& server = Serve([](const Question&) {});
  Start();
  for (int i = 0; i < 1000; ++i) Ask("h" + std::to_string(i) + ".example");
  loop_->RunOnce(clock_.Now());
  EXPECT_EQ(resolver_->in_flight(), 128U);
  loop_->RunOnce(clock_.Now());
  EXPECT_EQ(resolver_->in_flight(), 256U);
  RunUntil([&] { return server.questions() > 0; });
  resolver_->CancelAll();
  loop_->RunOnce(clock_.Now());
  EXPECT_EQ(answers_.size(), 1000U);
}

}  // namespace
}  // namespace nephila::dns
