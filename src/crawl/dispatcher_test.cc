#include "crawl/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/dispatch_testing.h"
#include "robots/rules.h"
#include "scope/block_list.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;

std::vector<std::string> PagesOf(const std::string& host, size_t count) {
  std::vector<std::string> urls;
  urls.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    urls.push_back("http://" + host + "/" + std::to_string(i));
  }
  return urls;
}

class DispatcherTest : public DispatchTest {
 protected:
  std::shared_ptr<const scope::BlockSet> Blocks(std::string_view lines) {
    return std::make_shared<const scope::BlockSet>(
        std::vector<std::shared_ptr<const scope::BlockList>>{
            scope::BlockList::Read("list", lines, canonicalizer_, suffixes_,
                                   [](uint32_t, const Error& why) {
                                     ADD_FAILURE() << why.message;
                                   })});
  }
};

TEST_F(DispatcherTest, NoHostAndNoAddressIsContactedEarly) {
  settings_.politeness.host_delay = seconds(2);
  settings_.politeness.host_delay_floor = seconds(2);
  settings_.politeness.server_delay = milliseconds(700);
  settings_.politeness.server_delay_floor = milliseconds(700);
  for (const char* host : {"a.test", "b.test", "c.test"}) {
    web_.PutHost(host, {net::IpAddress::V4(192, 0, 2, 1)});
  }
  FakeAnswer slow = FakePage("");
  slow.takes = seconds(3);
  web_.Put("http://a.test/1", slow);
  Start();
  GivePages(PagesOf("a.test", 4));
  GivePages(PagesOf("b.test", 4));
  GivePages(PagesOf("c.test", 4));
  ASSERT_TRUE(RunUntilFinished(12));
  EXPECT_EQ(web_.FirstEarly(seconds(2), milliseconds(700)), "");
  EXPECT_EQ(web_.log().size(), 12U);
  // It is the contact that counts, not the end: while one host is slow the
  // others of its address go on.
  EXPECT_LE(clock_.Now() - web_.log().front().begin, seconds(13));
  EXPECT_EQ(dispatcher_->in_flight(), 0U);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
}

// A run before may have allowed the port.
TEST_F(DispatcherTest, QueuedUrlsWithARefusedPortSendNoRequest) {
  config::UrlSettings allowing;
  allowing.allow_ports = {"6667"};
  url::Canonicalizer canonicalizer(allowing, suffixes_, kSeed);
  Start();
  for (const auto kind : {item::FetchKind::kPage, item::FetchKind::kRobots}) {
    item::UrlRecord record = url::MakeUrlRecord(
        *canonicalizer.Canonicalize("http://a.test:6667/", nullptr));
    record.parent = "http://parent.test/";
    auto visit = std::make_unique<Visit>();
    visit->kind = kind;
    item::AppendUrlRecord(record, visit->record);
    Give(std::move(visit));
  }
  ASSERT_TRUE(RunUntilFinished(2));
  for (const FinishedVisit& visit : finished_) {
    EXPECT_EQ(visit.outcome, FetchOutcome::kBlocked);
  }
  EXPECT_TRUE(web_.log().empty());
  EXPECT_EQ(web_.TimesResolved("a.test"), 0U);
}

TEST_F(DispatcherTest, ANameIsResolvedOnceForAllThatWaitForIt) {
  Start();
  GivePages(PagesOf("a.test", 5));
  ASSERT_TRUE(RunUntilFinished(5));
  EXPECT_EQ(web_.TimesResolved("a.test"), 1U);
}

TEST_F(DispatcherTest, AnAddressOfTheNameThatIsFreeIsUsed) {
  const auto first = net::IpAddress::V4(192, 0, 2, 1);
  const auto second = *net::IpAddress::Parse("2001:db8::1");
  web_.PutHost("a.test", {first});
  web_.PutHost("b.test", {first, second});
  settings_.politeness.server_delay = seconds(30);
  settings_.politeness.server_delay_floor = seconds(30);
  Start();
  Give(Page("http://a.test/"));
  RunFor(milliseconds(100));
  Give(Page("http://b.test/"));
  ASSERT_TRUE(RunUntilFinished(2, seconds(5)));
  EXPECT_EQ(web_.log()[1].address, second);
}

TEST_F(DispatcherTest, AddressesOfOneSlash64ShareAClock) {
  const auto first = *net::IpAddress::Parse("2600:1:2:3::1");
  const auto second = *net::IpAddress::Parse("2600:1:2:3:ffff::2");
  web_.PutHost("a.test", {first});
  web_.PutHost("b.test", {second});
  web_.PutHost("c.test", {first, second});
  settings_.politeness.server_delay = seconds(30);
  settings_.politeness.server_delay_floor = seconds(30);
  Start();
  GivePages({"http://a.test/", "http://b.test/"});
  GivePages(PagesOf("c.test", 4));
  ASSERT_TRUE(RunUntilFinished(6));
  EXPECT_EQ(web_.FirstEarly(seconds(1), seconds(30)), "");
  // The connection goes to an address of the name, not to the group's first.
  std::vector<net::IpAddress> asked;
  for (const FakeContact& contact : web_.log()) {
    asked.push_back(contact.address);
    const bool in_first = contact.host != "b.test";
    const bool in_second = contact.host != "a.test";
    EXPECT_TRUE((in_first && contact.address == first) ||
                (in_second && contact.address == second))
        << contact.url;
  }
  EXPECT_GT(std::count(asked.begin(), asked.end(), first), 1);
  EXPECT_GT(std::count(asked.begin(), asked.end(), second), 1);
}

TEST_F(DispatcherTest, ANameThatDoesNotExistIsWrittenDownWithoutALease) {
  web_.FailName("gone.test", {dns::Outcome::kNoSuchName});
  Start();
  GivePages(PagesOf("gone.test", 3));
  ASSERT_TRUE(RunUntilFinished(3, seconds(1)));
  EXPECT_EQ(web_.TimesResolved("gone.test"), 1U);
  EXPECT_TRUE(web_.log().empty());
  EXPECT_EQ(dispatcher_->stats().added, 0U);
  for (const FinishedVisit& visit : finished_) {
    EXPECT_EQ(visit.outcome, FetchOutcome::kNoSuchHost);
    EXPECT_FALSE(visit.retry);
    EXPECT_FALSE(visit.archived);
    EXPECT_EQ(EntryOf(visit.entry).outcome, FetchOutcome::kNoSuchHost);
  }
  EXPECT_NE(CrawlLog().find("no-such-name"), std::string::npos);
}

TEST_F(DispatcherTest, AResolverThatFailedIsAnAttempt) {
  web_.FailName("a.test", {dns::Outcome::kServerFailure});
  Start();
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1, seconds(1)));
  EXPECT_EQ(finished_[0].outcome, FetchOutcome::kDnsFailed);
  EXPECT_TRUE(finished_[0].retry);
  EXPECT_EQ(finished_[0].next_attempt, 2U);
  EXPECT_GT(finished_[0].url_wait, milliseconds(0));
}

// As one that does not answer: it backs off, is dead, and is tried again after
// pauses that grow, by one URL at a time.
TEST_F(DispatcherTest, AHostWhoseNameFailsBacksOff) {
  settings_.politeness.back_off = seconds(30);
  settings_.politeness.dead_after = 3;
  settings_.politeness.dead_pause = minutes(10);
  web_.FailName("a.test", std::vector(4, dns::Outcome::kServerFailure));
  Start();
  GivePages(PagesOf("a.test", 6));
  ASSERT_TRUE(RunUntilFinished(1, seconds(1)));
  EXPECT_EQ(finished_[0].outcome, FetchOutcome::kDnsFailed);
  EXPECT_GE(finished_[0].url_wait, seconds(30));
  job::Entry entry = EntryOf(1);
  EXPECT_EQ(entry.host_failures, 1U);
  EXPECT_GT(entry.authority_wait, seconds(29));
  EXPECT_LE(entry.host_wait, seconds(1));
  EXPECT_EQ(entry.address, job::Entry().address);
  // What comes meanwhile waits too.
  Give(Page("http://a.test/more"));
  RunFor(seconds(29));
  EXPECT_EQ(web_.TimesResolved("a.test"), 1U);
  ASSERT_TRUE(RunUntilFinished(2, seconds(2)));
  RunFor(seconds(59));
  EXPECT_EQ(web_.TimesResolved("a.test"), 2U);
  ASSERT_TRUE(RunUntilFinished(3, seconds(2)));
  EXPECT_EQ(web_.TimesResolved("a.test"), 3U);
  EXPECT_EQ(EntryOf(3).host_failures, 3U);
  EXPECT_GE(EntryOf(3).authority_wait, minutes(9));
  // Dead: the rest is on disk, and the record of the host knows.
  EXPECT_EQ(parked_.size(), 4U);
  for (const ParkedVisit& parked : parked_) {
    EXPECT_GE(parked.due, clock_.WallNow() + minutes(9));
  }
  ASSERT_FALSE(notes_.empty());
  EXPECT_EQ(notes_.back().origin, "http://a.test/");
  EXPECT_EQ(notes_.back().failures, 3U);
  EXPECT_TRUE(web_.log().empty());
  // One of them tries, and the pause is longer.
  clock_.Advance(minutes(10));
  Give(std::move(parked_[0].visit));
  Give(std::move(parked_[1].visit));
  parked_.clear();
  ASSERT_TRUE(RunUntilFinished(4, seconds(1)));
  EXPECT_GE(EntryOf(4).authority_wait, minutes(19));
  ASSERT_EQ(parked_.size(), 1U);
  EXPECT_EQ(web_.TimesResolved("a.test"), 4U);
  // The name is back, and all is well.
  clock_.Advance(minutes(20));
  Give(std::move(parked_[0].visit));
  ASSERT_TRUE(RunUntilFinished(5, seconds(5)));
  EXPECT_EQ(finished_[4].outcome, FetchOutcome::kResponse);
  EXPECT_EQ(EntryOf(5).host_failures, 0U);
}

TEST_F(DispatcherTest, ANameThatDoesNotExistMakesItsHostDead) {
  web_.FailName("gone.test", {dns::Outcome::kNoSuchName});
  Start();
  GivePages(PagesOf("gone.test", 2));
  ASSERT_TRUE(RunUntilFinished(2, seconds(1)));
  EXPECT_EQ(EntryOf(1).host_failures, 3U);
  EXPECT_GE(EntryOf(1).authority_wait, minutes(9));
  Give(Page("http://gone.test/more"));
  RunFor(seconds(1));
  ASSERT_EQ(parked_.size(), 1U);
  EXPECT_EQ(web_.TimesResolved("gone.test"), 1U);
}

TEST_F(DispatcherTest, PagesOfAHostThatIsSilentForLongAreGivenUp) {
  settings_.politeness.dead_after = 2;
  settings_.politeness.give_up_after = 2;
  settings_.politeness.back_off = seconds(1);
  for (const std::string& url : PagesOf("a.test", 5)) {
    web_.Put(url, FakeFailure(FetchOutcome::kConnectFailed));
  }
  Start();
  GivePages(PagesOf("a.test", 5));
  ASSERT_TRUE(RunUntilFinished(5, minutes(2)));
  EXPECT_EQ(web_.log().size(), 2U);
  // Those that were not tried need not wait for the end of the one that was.
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(finished_[i].outcome, FetchOutcome::kHostDead);
    EXPECT_FALSE(finished_[i].retry);
  }
  EXPECT_TRUE(parked_.empty());
  // Nor is the one tried again that found it silent the last time.
  EXPECT_TRUE(finished_[0].retry);
  EXPECT_EQ(finished_[4].outcome, FetchOutcome::kConnectFailed);
  EXPECT_FALSE(finished_[4].retry);
  EXPECT_NE(CrawlLog().find("host-dead"), std::string::npos);
  // It is asked again when its pause is over.
  clock_.Advance(minutes(10));
  web_.Put("http://a.test/new", FakePage(""));
  Give(Page("http://a.test/new"));
  ASSERT_TRUE(RunUntilFinished(6, seconds(5)));
  EXPECT_EQ(finished_[5].outcome, FetchOutcome::kResponse);
}

TEST_F(DispatcherTest, AResolverWithoutTimeIsAskedAgain) {
  web_.FailName("a.test",
                {dns::Outcome::kOverloaded, dns::Outcome::kOverloaded});
  Start();
  GivePages(PagesOf("a.test", 2));
  ASSERT_TRUE(RunUntilFinished(2, seconds(10)));
  EXPECT_EQ(web_.TimesResolved("a.test"), 3U);
  EXPECT_EQ(finished_[0].outcome, FetchOutcome::kResponse);
}

TEST_F(DispatcherTest, FailuresGoToTheDownloadersInTurn) {
  web_.FailName("a.test", {dns::Outcome::kNoSuchName});
  Start(2);
  GivePages(PagesOf("a.test", 4));
  ASSERT_TRUE(RunUntilFinished(4, seconds(1)));
  EXPECT_EQ(started_, (std::vector<size_t>{2, 2}));
}

TEST_F(DispatcherTest, TheDownloaderWithTheFewestGetsTheNext) {
  Start(3);
  for (int i = 0; i < 6; ++i) {
    Give(Page("http://h" + std::to_string(i) + ".test/"));
  }
  RunFor(milliseconds(5));
  EXPECT_EQ(dispatcher_->in_flight(), 6U);
  EXPECT_EQ(started_, (std::vector<size_t>{2, 2, 2}));
  ASSERT_TRUE(RunUntilFinished(6));
}

TEST_F(DispatcherTest, NoMoreAreInFlightThanAreLet) {
  Start(1, 2);
  for (int i = 0; i < 6; ++i) {
    Give(Page("http://h" + std::to_string(i) + ".test/"));
  }
  size_t most = 0;
  ASSERT_TRUE(RunUntil([&] {
    most = std::max(most, dispatcher_->in_flight());
    return finished_.size() == 6;
  }));
  EXPECT_EQ(most, 2U);
  dispatcher_->SetMaxInFlight(0);
  Give(Page("http://a.test/"));
  RunFor(seconds(5));
  EXPECT_EQ(finished_.size(), 6U);
  dispatcher_->SetMaxInFlight(1);
  EXPECT_TRUE(RunUntilFinished(7));
}

TEST_F(DispatcherTest, LeasesThatCannotBeWrittenDownAreNotGiven) {
  bool refuses = true;
  size_t told = 0;
  before_leases_ = [&](const std::vector<politeness::Lease>& leases) -> Status {
    EXPECT_EQ(dispatcher_->in_flight(), 0U);
    told += leases.size();
    if (refuses) return Unexpected(Error{ErrorCode::kIo, "bad"});
    return {};
  };
  Start();
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntil([&] { return told == 1; }));
  RunFor(seconds(5));
  EXPECT_EQ(told, 1U) << "nor is anybody else asked";
  EXPECT_TRUE(web_.Asked().empty());
  EXPECT_EQ(dispatcher_->waiting(), 1U);
  refuses = false;
  dispatcher_->Resume();
  EXPECT_TRUE(RunUntilFinished(1));
  EXPECT_EQ(told, 2U);
}

TEST_F(DispatcherTest, APageThatIsNotDueForLongIsParked) {
  Start();
  VisitPtr page = Page("http://a.test/");
  page->not_before = clock_.WallNow() + minutes(10);
  page->failures = 4;
  const WallTime due = page->not_before;
  Give(std::move(page));
  RunFor(milliseconds(50));
  ASSERT_EQ(parked_.size(), 1U);
  EXPECT_GE(parked_[0].due, due);
  EXPECT_LE(parked_[0].due, due + seconds(2));
  EXPECT_EQ(parked_[0].visit->place, 1U);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
}

TEST_F(DispatcherTest, ARobotsTxtThatIsNotDueForLongGoesBack) {
  Start();
  VisitPtr robots = Robots("http://a.test/");
  robots->attempt = 2;
  robots->not_before = clock_.WallNow() + minutes(10);
  const WallTime due = robots->not_before;
  Give(std::move(robots));
  RunFor(milliseconds(50));
  ASSERT_EQ(parked_.size(), 1U);
  EXPECT_EQ(parked_[0].visit->kind, item::FetchKind::kRobots);
  EXPECT_GE(parked_[0].due, due);
  EXPECT_LE(parked_[0].due, due + seconds(2));
  EXPECT_EQ(dispatcher_->waiting(), 0U);
  EXPECT_TRUE(web_.log().empty());
}

TEST_F(DispatcherTest, ARobotsTxtBehindALongLineGoesBack) {
  settings_.politeness.server_delay = seconds(1);
  settings_.politeness.server_delay_floor = seconds(1);
  settings_.politeness.park_after = seconds(30);
  Start();
  constexpr size_t kHosts = 100;
  for (size_t i = 0; i < kHosts; ++i) {
    const std::string host = "h" + std::to_string(i) + ".test";
    web_.PutHost(host, {net::IpAddress::V4(192, 0, 2, 1)});
    Give(Robots("http://" + host + "/"));
  }
  RunFor(seconds(40));
  EXPECT_GE(finished_.size(), 25U);
  EXPECT_EQ(finished_.size() + parked_.size(), kHosts);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
  // Each with a turn of its own.
  for (size_t i = 1; i < parked_.size(); ++i) {
    EXPECT_GE(parked_[i].due, parked_[i - 1].due + seconds(1));
  }
}

TEST_F(DispatcherTest, ADeadHostIsNotedByItsOriginAndItsPagesAreParked) {
  settings_.politeness.dead_after = 1;
  settings_.politeness.dead_pause = minutes(30);
  web_.Put("https://a.test:8443/0", FakeFailure(FetchOutcome::kConnectFailed));
  Start();
  GivePages({"https://a.test:8443/0", "https://a.test:8443/1"});
  ASSERT_TRUE(RunUntilFinished(1, minutes(1)));
  RunFor(milliseconds(50));
  ASSERT_EQ(parked_.size(), 1U);
  ASSERT_FALSE(notes_.empty());
  EXPECT_EQ(notes_[0].origin, "https://a.test:8443/");
  EXPECT_GE(notes_[0].authority_not_before, clock_.WallNow() + minutes(29));
  EXPECT_EQ(notes_[0].failures, 1U);
  EXPECT_NE(notes_[0].epoch, 0U);
  const job::Entry entry = EntryOf(finished_[0].entry);
  EXPECT_GE(entry.authority_wait, minutes(29));
  EXPECT_EQ(entry.host_failures, 1U);
  RunFor(seconds(2));  // of the host's own delay
  EXPECT_EQ(dispatcher_->stats().parked_hosts, 1U);
  dispatcher_->Noted(notes_[0].host, notes_[0].epoch);
  EXPECT_EQ(dispatcher_->stats().parked_hosts, 0U);
}

// Anyone can link to ports that are closed.
TEST_F(DispatcherTest, ClosedPortsDoNotHoldUpThePagesOfTheirHost) {
  settings_.politeness.dead_after = 1;
  settings_.politeness.dead_pause = minutes(30);
  std::vector<std::string> closed;
  for (int port = 9001; port <= 9015; ++port) {
    closed.push_back("http://a.test:" + std::to_string(port) + "/");
    web_.Put(closed.back(), FakeFailure(FetchOutcome::kConnectFailed));
  }
  Start();
  GivePages(closed);
  GivePages(PagesOf("a.test", 10));
  RunFor(seconds(40));
  EXPECT_EQ(std::count_if(finished_.begin(), finished_.end(),
                          [](const FinishedVisit& visit) {
                            return visit.outcome == FetchOutcome::kResponse;
                          }),
            10);
  // Each is noted by its own origin, with its own time; the host's is short.
  std::set<std::string> origins;
  for (const HostNote& note : notes_) {
    if (note.failures == 0) continue;
    origins.insert(note.origin);
    EXPECT_GT(note.authority_not_before, clock_.WallNow() + minutes(29));
    EXPECT_LE(note.not_before, clock_.WallNow() + seconds(1));
  }
  EXPECT_EQ(origins, std::set<std::string>(closed.begin(), closed.end()));
}

// A name that fails does so for every port, each of which backs off.
TEST_F(DispatcherTest, ANameThatFailsIsAnAttemptOfEachPort) {
  settings_.politeness.back_off = seconds(30);
  web_.FailName("a.test", {dns::Outcome::kServerFailure});
  Start();
  GivePages({"http://a.test/1", "http://a.test/2", "https://a.test/1",
             "https://a.test/2"});
  ASSERT_TRUE(RunUntilFinished(2, seconds(1)));
  for (const FinishedVisit& visit : finished_) {
    EXPECT_EQ(visit.outcome, FetchOutcome::kDnsFailed);
    EXPECT_EQ(EntryOf(visit.entry).host_failures, 1U);
    EXPECT_GT(EntryOf(visit.entry).authority_wait, seconds(29));
  }
  RunFor(seconds(20));
  EXPECT_EQ(web_.TimesResolved("a.test"), 1U);
  ASSERT_TRUE(RunUntilFinished(4, seconds(20)));
}

TEST_F(DispatcherTest, ARestoredWaitIsNotedOnceItsHostHasAName) {
  settings_.politeness.dead_after = 1;
  settings_.politeness.dead_pause = minutes(30);
  web_.Put("http://a.test/0", FakeFailure(FetchOutcome::kConnectFailed));
  Start();
  Give(Page("http://a.test/0"));
  ASSERT_TRUE(RunUntilFinished(1, minutes(1)));
  const std::string saved = dispatcher_->SaveWaits();
  Stop();
  notes_.clear();
  Start();
  MustDo(dispatcher_->RestoreWaits(saved));
  Give(Page("http://b.test/"));
  RunFor(seconds(5));
  EXPECT_TRUE(notes_.empty());
  Give(Page("http://a.test/1"));
  RunFor(seconds(1));
  ASSERT_FALSE(notes_.empty());
  EXPECT_EQ(notes_[0].origin, "http://a.test/");
  EXPECT_GE(notes_[0].authority_not_before, clock_.WallNow() + minutes(28));
  ASSERT_EQ(parked_.size(), 1U);
}

TEST_F(DispatcherTest, WhatFindsNoRoomComesWhenThereIsSome) {
  settings_.politeness.max_hosts = 2;
  settings_.politeness.host_delay = milliseconds(100);
  settings_.politeness.host_delay_floor = milliseconds(100);
  Start();
  for (int i = 0; i < 8; ++i) {
    Give(Page("http://h" + std::to_string(i) + ".test/"));
  }
  ASSERT_TRUE(RunUntilFinished(8, minutes(1)));
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(100)), "");
}

TEST_F(DispatcherTest, MoreIsAskedForOnceAtATime) {
  settings_.politeness.max_urls = 600;
  Start();
  Give(Page("http://a.test/"));
  RunFor(seconds(3));
  ASSERT_EQ(wants_.size(), 1U);
  EXPECT_LE(wants_[0], 600U);
  const size_t asked = wants_[0];
  GivePages(PagesOf("b.test", 10));
  dispatcher_->Wanted(10);
  RunFor(seconds(3));
  EXPECT_EQ(wants_.size(), 1U);
  dispatcher_->Wanted(asked - 10);
  RunFor(milliseconds(5));
  EXPECT_EQ(wants_.size(), 2U);
}

TEST_F(DispatcherTest, ARequestThatBroughtNothingIsNotRepeatedInACircle) {
  Start();
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1));
  RunFor(milliseconds(100));
  ASSERT_EQ(wants_.size(), 1U);
  size_t closed = 0;
  for (int i = 0; i < 20; ++i) {
    for (; closed < wants_.size(); ++closed) {
      dispatcher_->Wanted(wants_[closed]);
    }
    RunFor(milliseconds(5));
  }
  EXPECT_GE(wants_.size(), 5U);
  EXPECT_LE(wants_.size(), 12U);
}

TEST_F(DispatcherTest, NoLeaseIsGivenInAPause) {
  Start();
  GivePages(PagesOf("a.test", 3));
  ASSERT_TRUE(RunUntilFinished(1));
  dispatcher_->Pause();
  const size_t asked = web_.log().size();
  Give(Page("http://b.test/"));
  RunFor(seconds(10));
  EXPECT_EQ(web_.log().size(), asked);
  EXPECT_EQ(web_.TimesResolved("b.test"), 0U);
  dispatcher_->Resume();
  EXPECT_TRUE(RunUntilFinished(4));
}

TEST_F(DispatcherTest, ASitesOwnDelayHolds) {
  site_delay_ = [](std::string_view host) -> std::optional<nanoseconds> {
    if (host == "slow.test") return seconds(20);
    return std::nullopt;
  };
  Start();
  GivePages(PagesOf("slow.test", 3));
  ASSERT_TRUE(RunUntilFinished(3));
  EXPECT_EQ(web_.FirstEarly(seconds(20), milliseconds(100)), "");
}

TEST_F(DispatcherTest, ACrawlDelayOfTheRecordHolds) {
  Start();
  for (int i = 0; i < 3; ++i) {
    VisitPtr page = Page("http://a.test/" + std::to_string(i));
    page->crawl_delay = seconds(15);
    Give(std::move(page));
  }
  ASSERT_TRUE(RunUntilFinished(3));
  EXPECT_EQ(web_.FirstEarly(seconds(15), milliseconds(100)), "");
}

TEST_F(DispatcherTest, TheFirstRobotsTxtGoesAtOnceAndThePageBehindItWaits) {
  Start();
  Give(Robots("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1, milliseconds(100)));
  Give(Page("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
}

TEST_F(DispatcherTest, ConnectionsAreKeptForWhatComesSoon) {
  Start();
  GivePages(PagesOf("a.test", 3));
  ASSERT_TRUE(RunUntilFinished(3));
  const auto log = web_.log();
  EXPECT_FALSE(log[0].reused);
  EXPECT_TRUE(log[1].reused);
  EXPECT_TRUE(log[2].reused);
  // Behind the last one nothing waited.
  Give(Page("http://a.test/9"));
  ASSERT_TRUE(RunUntilFinished(4));
  EXPECT_FALSE(web_.log().back().reused);
}

TEST_F(DispatcherTest, ConnectionsAreNotKeptForWhatComesLate) {
  settings_.politeness.host_delay = seconds(10);
  settings_.politeness.host_delay_floor = seconds(10);
  Start();
  GivePages(PagesOf("a.test", 2));
  ASSERT_TRUE(RunUntilFinished(2));
  EXPECT_FALSE(web_.log()[1].reused);
}

TEST_F(DispatcherTest, WhatIsBlockedIsWrittenDownWithoutANameOrALease) {
  Start();
  dispatcher_->SetBlocks(Blocks("host bad.test"));
  GivePages(PagesOf("www.bad.test", 3));
  Give(Robots("http://bad.test/"));
  ASSERT_TRUE(RunUntilFinished(4, seconds(1)));
  EXPECT_TRUE(web_.log().empty());
  EXPECT_EQ(web_.TimesResolved("bad.test"), 0U);
  EXPECT_EQ(web_.TimesResolved("www.bad.test"), 0U);
  for (const FinishedVisit& visit : finished_) {
    EXPECT_EQ(visit.outcome, FetchOutcome::kBlocked);
    EXPECT_FALSE(visit.retry);
    EXPECT_EQ(EntryOf(visit.entry).outcome, FetchOutcome::kBlocked);
    if (visit.kind != item::FetchKind::kRobots) continue;
    // In its place stands the word of the operator.
    EXPECT_EQ(visit.robots_end, item::RobotsFetchEnd::kAnswer);
    EXPECT_EQ(visit.rules, robots::CompileDisallowAll());
  }
  EXPECT_NE(CrawlLog().find("-5001"), std::string::npos);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
}

TEST_F(DispatcherTest, AListThatComesLaterHoldsForWhatWaitsForItsTime) {
  settings_.politeness.host_delay = seconds(5);
  settings_.politeness.host_delay_floor = seconds(5);
  Start();
  GivePages(PagesOf("bad.test", 4));
  GivePages(PagesOf("good.test", 2));
  ASSERT_TRUE(RunUntilFinished(2, seconds(1)));
  dispatcher_->SetBlocks(Blocks("surt (test,bad,)/"));
  ASSERT_TRUE(RunUntilFinished(6, seconds(10)));
  EXPECT_EQ(std::count_if(finished_.begin(), finished_.end(),
                          [](const FinishedVisit& visit) {
                            return visit.outcome == FetchOutcome::kBlocked;
                          }),
            3);
  EXPECT_EQ(web_.log().size(), 3U);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
  EXPECT_EQ(dispatcher_->in_flight(), 0U);
  // And the host can be asked again when it is not on the list any more.
  dispatcher_->SetBlocks(Blocks(""));
  Give(Page("http://bad.test/again"));
  ASSERT_TRUE(RunUntilFinished(7, seconds(10)));
  EXPECT_EQ(finished_.back().outcome, FetchOutcome::kResponse);
  EXPECT_EQ(web_.FirstEarly(seconds(5), milliseconds(100)), "");
}

TEST_F(DispatcherTest, OfANamesAddressesThoseThatAreBlockedAreNotUsed) {
  const auto bad = net::IpAddress::V4(192, 0, 2, 1);
  const auto good = net::IpAddress::V4(198, 51, 100, 1);
  web_.PutHost("a.test", {bad, good});
  web_.PutHost("b.test", {bad});
  Start();
  dispatcher_->SetBlocks(Blocks("address 192.0.2.0/28"));
  GivePages({"http://a.test/", "http://b.test/"});
  ASSERT_TRUE(RunUntilFinished(2, seconds(5)));
  ASSERT_EQ(web_.log().size(), 1U);
  EXPECT_EQ(web_.log()[0].address, good);
  EXPECT_NE(CrawlLog().find("192.0.2.1"), std::string::npos);
  // An address that is blocked when its lease is there.
  settings_.politeness.park_after = hours(1);
  Give(Page("http://a.test/2"));
  RunFor(milliseconds(10));
  dispatcher_->SetBlocks(Blocks("address 192.0.2.0/28\naddress 198.51.100.1"));
  ASSERT_TRUE(RunUntilFinished(3, seconds(5)));
  EXPECT_EQ(finished_.back().outcome, FetchOutcome::kBlocked);
  EXPECT_EQ(web_.log().size(), 1U);
}

TEST_F(DispatcherTest, WhenOneAddressIsBlockedTheOthersOfTheNameAreUsed) {
  const auto first = net::IpAddress::V4(192, 0, 2, 1);
  const auto second = net::IpAddress::V4(198, 51, 100, 1);
  web_.PutHost("a.test", {first, second});
  settings_.politeness.host_delay = seconds(2);
  settings_.politeness.host_delay_floor = seconds(2);
  Start();
  GivePages(PagesOf("a.test", 5));
  ASSERT_TRUE(RunUntilFinished(1, seconds(1)));
  // The others wait for their time, each address one that they may get.
  const auto blocked = web_.log()[0].address;
  const auto left = blocked == first ? second : first;
  dispatcher_->SetBlocks(Blocks("address " + blocked.ToString()));
  ASSERT_TRUE(RunUntilFinished(3, seconds(10)));
  dispatcher_->SetBlocks(Blocks("address " + left.ToString()));
  ASSERT_TRUE(RunUntilFinished(5, seconds(10)));
  for (const FinishedVisit& visit : finished_) {
    EXPECT_EQ(visit.outcome, FetchOutcome::kResponse);
  }
  ASSERT_EQ(web_.log().size(), 5U);
  EXPECT_EQ(web_.log()[1].address, left);
  EXPECT_EQ(web_.log()[2].address, left);
  EXPECT_EQ(web_.log()[3].address, blocked);
  EXPECT_EQ(web_.log()[4].address, blocked);
  EXPECT_EQ(web_.FirstEarly(seconds(2), milliseconds(100)), "");
  EXPECT_EQ(dispatcher_->in_flight(), 0U);
  EXPECT_EQ(dispatcher_->waiting(), 0U);
}

TEST_F(DispatcherTest, ARedirectOfARobotsTxtToABlockedHostIsNotFollowed) {
  web_.Put("http://a.test/robots.txt", FakeRedirect("http://bad.test/rules"));
  Start();
  dispatcher_->SetBlocks(Blocks("domain bad.test"));
  Give(Robots("http://a.test/"));
  ASSERT_TRUE(RunUntilFinished(1, seconds(5)));
  EXPECT_EQ(finished_.back().next, "http://bad.test/rules");
  Give(RobotsTarget("http://bad.test/", "http://bad.test/rules"));
  ASSERT_TRUE(RunUntilFinished(2, seconds(5)));
  EXPECT_EQ(web_.Asked(),
            (std::vector<std::string>{"http://a.test/robots.txt"}));
  EXPECT_EQ(finished_.back().robots_end,
            item::RobotsFetchEnd::kRefusedRedirect);
}

TEST_F(DispatcherTest, AnAnswerOfTheResolverMayComeWhenItIsGone) {
  Start();
  Give(Page("http://a.test/"));
  dispatcher_.reset();
  RunFor(seconds(1));
  EXPECT_TRUE(finished_.empty());
}

}  // namespace
}  // namespace nephila::crawl
