// A dispatcher among ten times as many hosts as it has places, which are not
// due or answer slowly. Good hosts get their pages all the same, and no host is
// contacted early.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crawl/dispatch_testing.h"

namespace nephila::crawl {
namespace {

class DispatcherRoomTest : public DispatchTest {
 protected:
  // A page that is ready, with what its host's robots.txt asks for.
  void Ready(const std::string& url, milliseconds crawl_delay = {}) {
    VisitPtr visit = Page(url);
    visit->crawl_delay = crawl_delay;
    ready_.push_back(std::move(visit));
  }

  // The frontier's part: gives what is wanted, keeps what is parked until it is
  // due, and writes notes into the records of hosts.
  void Feed() {
    for (ParkedVisit& parked : std::exchange(parked_, {})) {
      waiting_.emplace(parked.due, std::move(parked.visit));
    }
    for (const HostNote& note : std::exchange(notes_, {})) {
      records_[note.origin] = note;
      dispatcher_->Noted(note.host, note.epoch);
    }
    while (!waiting_.empty() && waiting_.begin()->first <= clock_.WallNow()) {
      ready_.push_back(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
    }
    for (const size_t count : std::exchange(wants_, {})) wanted_ += count;
    std::vector<VisitPtr> visits;
    while (wanted_ > 0 && !ready_.empty()) {
      VisitPtr visit = std::move(ready_.front());
      ready_.pop_front();
      const auto read = item::ReadUrl(visit->record);
      const size_t path = read->url.find('/', std::string("http://").size());
      const auto record =
          records_.find(std::string(read->url.substr(0, path + 1)));
      if (record != records_.end()) {
        visit->not_before = record->second.not_before;
        visit->failures = record->second.failures;
        visit->overloads = record->second.overloads;
      }
      visits.push_back(std::move(visit));
      --wanted_;
    }
    const size_t given = visits.size();
    if (given == 0) return;
    dispatcher_->Take(std::move(visits));
    dispatcher_->Wanted(given);
  }

  // Returns how many pages of good hosts have come with a response.
  size_t GoodPages() const {
    return static_cast<size_t>(std::count_if(
        finished_.begin(), finished_.end(), [](const FinishedVisit& finished) {
          const auto record = item::ReadUrl(finished.record);
          return finished.outcome == item::FetchOutcome::kResponse &&
                 record->url.starts_with("http://good");
        }));
  }

  bool RunUntilGood(size_t count, nanoseconds most) {
    return RunUntil(
        [&] {
          Feed();
          return GoodPages() >= count;
        },
        most);
  }

  static std::string Url(std::string_view name, size_t host, size_t page) {
    return "http://" + std::string(name) + std::to_string(host) + ".test/" +
           std::to_string(page);
  }

  std::deque<VisitPtr> ready_;
  std::multimap<WallTime, VisitPtr> waiting_;
  std::map<std::string, HostNote> records_;  // by origin
  size_t wanted_ = 0;
};

TEST_F(DispatcherRoomTest, HostsThatAreNotDueDoNotFillTheMemory) {
  settings_.politeness.max_hosts = 20;
  settings_.politeness.max_urls = 80;
  settings_.politeness.max_parked = 60;
  Start(1, 10);
  // Just under `politeness.park_after`.
  const seconds delay(290);
  for (size_t page = 0; page < 3; ++page) {
    for (size_t i = 0; i < 800; ++i) Ready(Url("bad", i, page), delay);
  }
  for (size_t page = 0; page < 5; ++page) {
    for (size_t i = 0; i < 10; ++i) Ready(Url("good", i, page));
  }
  // The good ones are the last to be read: each of the others is contacted
  // once, and then in no one's way.
  Give(Page("http://first.test/"));
  EXPECT_TRUE(RunUntilGood(50, seconds(60))) << GoodPages();
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
  std::map<std::string, MonoTime> ends;
  for (const FakeContact& contact : web_.log()) {
    if (!contact.host.starts_with("bad")) continue;
    const auto [last, is_first] = ends.try_emplace(contact.host, contact.end);
    if (!is_first) {
      EXPECT_GE(contact.begin, last->second + delay) << contact.host;
    }
    last->second = contact.end;
  }
}

// Tarpits: each page drips for ten minutes.
TEST_F(DispatcherRoomTest, SlowServersDoNotHoldAllTransfers) {
  constexpr size_t kTransfers = 16;
  constexpr size_t kBad = 10 * kTransfers;
  Start(2, kTransfers);
  FakeAnswer drips = FakePage("drips");
  drips.takes = minutes(10);
  for (size_t i = 0; i < kBad; ++i) {
    web_.Put(Url("bad", i, 0), drips);
    Ready(Url("bad", i, 0));
  }
  for (size_t page = 0; page < 4; ++page) {
    for (size_t i = 0; i < 10; ++i) Ready(Url("good", i, page));
  }
  Give(Page("http://first.test/"));
  // A second for each round of those that are read before, and four for the
  // good ones, whose host delay is a second.
  EXPECT_TRUE(RunUntilGood(40, seconds(30))) << GoodPages();
  EXPECT_EQ(web_.FirstEarly(seconds(1), milliseconds(100)), "");
  // Those that were ended are failures of their hosts, and come again.
  size_t ended = 0;
  for (const FinishedVisit& finished : finished_) {
    if (finished.outcome != item::FetchOutcome::kTimeout) continue;
    ++ended;
    EXPECT_TRUE(finished.retry);
    EXPECT_GE(finished.host_wait, settings_.politeness.back_off);
  }
  EXPECT_GT(ended, kBad / 2);
  EXPECT_NE((CrawlLog(0) + CrawlLog(1)).find("slow"), std::string::npos);
}

// A page that takes five seconds is ended while others wait, and comes whole
// when it is tried again, though others still wait.
TEST_F(DispatcherRoomTest, AnHonestSlowPageComesInTheEnd) {
  constexpr size_t kTransfers = 8;
  Start(1, kTransfers);
  FakeAnswer drips = FakePage("drips");
  drips.takes = minutes(10);
  FakeAnswer large = FakePage("large");
  large.takes = seconds(5);
  web_.Put("http://good-slow.test/", large);
  for (size_t i = 0; i < 100; ++i) {
    web_.Put(Url("bad", i, 0), drips);
    Ready(Url("bad", i, 0));
    if (i == 20) Ready("http://good-slow.test/");
  }
  Give(Page("http://first.test/"));
  bool was_ended = false;
  on_finished_ = [&](const FinishedVisit& finished) {
    const auto record = item::ReadUrl(finished.record);
    if (record->url != "http://good-slow.test/" || !finished.retry) return;
    was_ended = true;
    ParkedVisit again{Page(record->url), finished.when + finished.url_wait};
    again.visit->attempt = 2;
    again.visit->failures = 1;
    parked_.push_back(std::move(again));
  };
  EXPECT_TRUE(RunUntilGood(1, hours(3))) << GoodPages();
  EXPECT_TRUE(was_ended);
}

TEST_F(DispatcherRoomTest, SlowNamesDoNotHoldAllPlaces) {
  constexpr size_t kTransfers = 8;
  Start(1, kTransfers);
  // Ten times as many as may wait for names.
  for (size_t i = 0; i < 10 * 4 * kTransfers; ++i) {
    const std::string url = Url("bad", i, 0);
    resolver_.Delay("bad" + std::to_string(i) + ".test", minutes(5));
    Ready(url);
  }
  for (size_t i = 0; i < 20; ++i) Ready(Url("good", i, 0));
  Give(Page("http://first.test/"));
  EXPECT_TRUE(RunUntilGood(20, seconds(40))) << GoodPages();
  // They are resolved in the end, and fetched.
  EXPECT_TRUE(RunUntil(
      [&] {
        Feed();
        return finished_.size() == 1 + 20 + 10 * 4 * kTransfers;
      },
      minutes(20), milliseconds(100)))
      << finished_.size();
}

TEST_F(DispatcherRoomTest, VisitsOfHostsInBackOffDoNotFillTheMemory) {
  settings_.politeness.max_urls = 64;
  settings_.politeness.back_off = minutes(4);
  Start(1, 10);
  for (size_t i = 0; i < 640; ++i) {
    const std::string url = Url("bad", i, 0);
    // Its record says that it did not answer lately.
    VisitPtr visit = Page(url);
    visit->failures = 1;
    visit->not_before = clock_.WallNow() + minutes(4);
    ready_.push_back(std::move(visit));
  }
  for (size_t i = 0; i < 10; ++i) Ready(Url("good", i, 0));
  Give(Page("http://first.test/"));
  EXPECT_TRUE(RunUntilGood(10, seconds(20))) << GoodPages();
}

}  // namespace
}  // namespace nephila::crawl
