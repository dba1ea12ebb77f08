#include "crawl/twin_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "store/store_testing.h"
#include "store/verify.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// From the end of a transfer to its entry in the journal, with steps of the
// clock between: what a killed process may not have written down.
constexpr milliseconds kWritten{20};
// The clock goes on by this, and by more while nothing happens.
constexpr milliseconds kStep{1};
constexpr milliseconds kLongStep{50};
constexpr uint64_t kQuietTurns = 40;
constexpr uint64_t kMostTurns = 60'000;

// Statuses after which a URL is asked for again.
bool IsFinal(int status) { return status != 429 && status / 100 != 5; }

std::string_view FieldOf(std::string_view head, std::string_view name) {
  const size_t at = head.find(name);
  if (at == std::string_view::npos) return {};
  head.remove_prefix(at + name.size());
  return head.substr(0, head.find('\r'));
}

std::string ReadAll(FileSystem& fs, const std::string& path) {
  const auto file = Must(fs.Open(path, OpenMode::kRead));
  std::string bytes(Must(file->Size()), '\0');
  Must(file->Read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// One for all twins of a process: to read it is a seventh of a crawl.
const url::PublicSuffixList& Suffixes() {
  static const url::PublicSuffixList suffixes =
      url::PublicSuffixList::BuiltIn();
  return suffixes;
}

}  // namespace

// What the archive holds: answers by URL, how many are final, and all that
// crawl.log must have a line of.
struct Twin::Archived {
  struct Counts {
    size_t finals = 0;
    size_t errors = 0;
  };
  std::map<std::string, Counts> pages;
  std::multiset<std::string> lines;  // "STATUS URL"
  std::set<size_t> requests;         // that were answered so
  size_t responses = 0;              // of pages
};

Twin::Twin(const TwinPlan& plan) : plan_(plan) { plan_.Put(&web_); }

void Twin::Continue(MonoTime now, const std::vector<FakeContact>& log) {
  clock_.Advance(now - clock_.Now());
  web_.Restore(log);
  // The ids of records must differ from those of the earlier twin.
  constexpr uint64_t kRunsBefore = 1000;
  runs_ = kRunsBefore;
  opened_ = true;
}

Status Twin::Open(FileSystem& fs) {
  Close();
  job::JobRequest request;
  request.settings = plan_.settings;
  request.process_id = 1;
  request.profile = plan_.profile;
  request.key_seed = plan_.seed * 2 + 7;
  request.now = clock_.WallNow();
  request.version = "test";
  NEPHILA_TRY(folder_, job::JobFolder::OpenOrCreate(fs, "job", request));
  Crawl::Parts parts{fs,         clock_,  web_of_crawl_, plan_.settings,
                     Suffixes(), *folder_};
  parts.one_thread = true;
  parts.record_seed = ++runs_;
  MemoryPlan memory = PlanMemory(plan_.settings);
  if (plan_.in_transit > 0) memory.in_transit = plan_.in_transit;
  if (plan_.visits > 0) memory.visits = plan_.visits;
  parts.plan = memory;
  NEPHILA_TRY(crawl_, Crawl::Open(parts));
  for (const std::string& seed : plan_.seeds) {
    NEPHILA_RETURN_IF_ERROR(crawl_->AddSeed(seed));
  }
  opened_ = true;
  return {};
}

void Twin::Close() {
  if (crawl_ != nullptr) status_ = crawl_->status();
  crawl_.reset();
  folder_.reset();
}

Result<std::optional<CrawlEnd>> Twin::Turns(uint64_t turns) {
  for (uint64_t i = 0; i < turns; ++i) {
    NEPHILA_TRY(const auto end, crawl_->Turn(clock_.Now()));
    ExpectMemory();
    if (end) return end;
    const size_t events = web_.requests() + web_.ends();
    quiet_ = events == events_ ? quiet_ + 1 : 0;
    events_ = events;
    // Late is never early; and waits of an hour must not take as many turns.
    milliseconds step = kStep;
    if (quiet_ > kQuietTurns) step = kLongStep / 10;
    if (quiet_ > 10 * kQuietTurns) step = kLongStep;
    if (quiet_ > 100 * kQuietTurns) step = 100 * kLongStep;
    step = std::min(step, longest_step_);
    clock_.Advance(step);
  }
  return std::optional<CrawlEnd>();
}

// What is on its way between threads and stages, by the plan: finished visits
// are taken in up to twice their share, and those that are written down at once
// have no links; on top of that one page may be read.
void Twin::ExpectMemory() const {
  const Crawl::Held held = crawl_->HeldBytes();
  const MemoryPlan& memory = crawl_->memory_plan();
  const uint64_t record = 3 * plan_.longest_url + 200;
  const uint64_t bare_visit = sizeof(FinishedVisit) + 200 + 2 * record;
  const uint64_t page = 4 * plan_.most_links * (plan_.longest_url + 64);
  EXPECT_LE(held.in_transit, 2 * memory.in_transit +
                                 crawl_->most_in_flight() * bare_visit + page);
  const uint64_t step = 1000 * (sizeof(Visit) + 200 + 3 * record);
  EXPECT_LE(held.visits, memory.visits + step);
  // A step moves some URLs however long they are (StepUrls).
  const uint64_t moved = std::max<uint64_t>(memory.steps, 16 * record);
  EXPECT_LE(held.frontier, held.in_transit + 4 * moved);
}

void Twin::Crash(nephila::Crash crash, MemoryFileSystem& fs, uint64_t seed,
                 nanoseconds down) {
  const bool power = crash != nephila::Crash::kKill;
  const MonoTime before = LogNow();
  // What is asked for again: what was in flight, or not written down, or
  // written and not durable; and what waited for room on the disk.
  nanoseconds unsure = kWritten + sync_takes_;
  if (power) unsure += 3 * plan_.settings.crawl.sync_interval;
  if (crawl_ != nullptr && !crawl_->status().disk.empty()) {
    unsure = std::chrono::hours(1);
  }
  // What the process before had not made durable nobody has since.
  if (!opened_ && !gone_.empty()) {
    unsure += before - gone_.back().when + gone_.back().unsure;
  }
  opened_ = false;
  for (const FakeContact& contact : web_.log()) {
    if (contact.end >= before - unsure) ++allowed_;
  }
  Close();
  gone_.push_back({before, power, unsure});
  Happen(crash, fs, seed);
  const MonoTime stopped = clock_.Now();
  clock_.Advance(down);
  if (power) clock_.Reboot();
  // The log goes on as the world does.
  const nanoseconds pause = stopped + down - clock_.Now();
  web_.BreakOff(stopped, pause);
  ahead_ += pause;
  quiet_ = 0;
}

void Twin::StepWall(nanoseconds delta) {
  clock_.StepWall(delta);
  wall_stepped_ = true;
}

void Twin::Finish(FileSystem& fs) {
  const Status opened = Open(fs);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  const auto end = Turns(kMostTurns);
  ASSERT_TRUE(end.has_value()) << end.error().message;
  ASSERT_TRUE(end->has_value()) << "it goes on for ever:\n"
                                << FormatStatus(crawl_->status());
  EXPECT_EQ(CrawlEndName(**end), CrawlEndName(CrawlEnd::kFinished));
  Close();
}

void Twin::ExpectAll(FileSystem& fs) {
  ExpectArchive(fs);
  ExpectPolite();
  ExpectFewRequests();
}

void Twin::ExpectArchive(FileSystem& fs) {
  Archived archived;
  std::vector<std::string> paths = store::ArchivePaths(fs, "job/archive");
  for (const std::string& path :
       store::ArchivePaths(fs, "job/archive", "nephila-1")) {
    paths.push_back(path);
  }
  for (const std::string& path : paths) {
    const auto report = Must(store::VerifyArchive(
        fs, path, {}, [&path](const store::Finding& finding) {
          ADD_FAILURE() << path << " at " << finding.offset << ": "
                        << finding.what;
        }));
    EXPECT_TRUE(report.has_index) << path;
    for (const store::ReadRecord& record : store::ReadArchive(fs, path)) {
      const std::string url(record.header.target_uri());
      const store::RecordType type = record.header.type();
      if (url.starts_with("dns:")) archived.lines.insert("1 " + url);
      if (url.starts_with("http") && (type == store::RecordType::kResponse ||
                                      type == store::RecordType::kRevisit)) {
        ExpectRecord(&archived, url, record.block);
      }
    }
  }
  ExpectPages(archived);
  ExpectLog(fs, archived);
  ExpectAccounts(archived);
}

// An answer of the web, once.
void Twin::ExpectRecord(Archived* archived, const std::string& url,
                        const std::string& head) {
  const std::string number(FieldOf(head, "X-Request: "));
  ASSERT_FALSE(number.empty()) << url << "\n" << head;
  const size_t request = std::stoull(number);
  EXPECT_TRUE(archived->requests.insert(request).second)
      << url << " is there twice";
  const std::vector<FakeContact> log = web_.log();
  ASSERT_LT(request, log.size());
  EXPECT_EQ(log[request].url, url);
  const int status = std::stoi(head.substr(head.find(' ') + 1));
  archived->lines.insert(std::to_string(status) + " " + url);
  // Its last part is that of a robots.txt, or of one that was redirected.
  if (url.find("/robots.txt") != std::string::npos ||
      url.find("/rules") != std::string::npos) {
    return;
  }
  Archived::Counts& counts = archived->pages[url];
  ++(IsFinal(status) ? counts.finals : counts.errors);
  ++archived->responses;
}

void Twin::ExpectPages(const Archived& archived) const {
  for (const auto& [url, counts] : archived.pages) {
    EXPECT_EQ(counts.finals, plan_.finals.contains(url) ? 1U : 0U) << url;
    const auto errors = plan_.errors.find(url);
    const size_t most = errors == plan_.errors.end() ? 0 : errors->second;
    EXPECT_LE(counts.errors, most) << url;
    if (plan_.broken.contains(url)) {
      EXPECT_EQ(counts.errors, most) << url;
    }
  }
  for (const auto* urls : {&plan_.finals, &plan_.broken}) {
    for (const std::string& url : *urls) {
      EXPECT_TRUE(archived.pages.contains(url)) << url << " is missing\n"
                                                << Story();
    }
  }
}

// A line for each record, and none without.
void Twin::ExpectLog(FileSystem& fs, const Archived& archived) {
  std::multiset<std::string> lines;
  std::string all = ReadAll(fs, "job/archive/crawl.log");
  if (Must(fs.Exists("job/archive/crawl-1.log"))) {
    all.append(ReadAll(fs, "job/archive/crawl-1.log"));
  }
  std::istringstream log(all);
  for (std::string line; std::getline(log, line);) {
    std::istringstream columns(line);
    std::string time;
    std::string status;
    std::string bytes;
    std::string url;
    columns >> time >> status >> bytes >> url;
    if (!status.starts_with('-')) lines.insert(status + " " + url);
  }
  std::vector<std::string> missing;
  std::set_difference(archived.lines.begin(), archived.lines.end(),
                      lines.begin(), lines.end(), std::back_inserter(missing));
  std::vector<std::string> unfounded;
  std::set_difference(lines.begin(), lines.end(), archived.lines.begin(),
                      archived.lines.end(), std::back_inserter(unfounded));
  EXPECT_EQ(missing, std::vector<std::string>()) << "not in crawl.log";
  EXPECT_EQ(unfounded, std::vector<std::string>()) << "not in the archive";
}

// Each URL that was found has left the crawl at one place.
void Twin::ExpectAccounts(const Archived& archived) const {
  EXPECT_EQ(status_.Imbalance(), "");
  EXPECT_EQ(status_.waiting, 0U);
  EXPECT_EQ(status_.pages, archived.responses);
  EXPECT_EQ(status_.seen, plan_.urls);
  std::map<std::string, StageTotals> stages;
  for (const auto& stage : status_.stages) stages[stage.name] = stage.totals;
  EXPECT_EQ(status_.seen,
            stages["caps"].DroppedSum() + stages["robots"].DroppedSum() +
                stages["politeness"].DroppedSum() + stages["fetch"].in);
  EXPECT_EQ(stages["fetch"].out, plan_.finals.size() + plan_.broken.size());
}

// Whether what a server asked for was known when the host was asked again: not
// if nobody heard it, or the entry about it was lost.
bool Twin::Binds(const FakeContact& asked, MonoTime later) const {
  if (asked.lost) return false;
  return std::none_of(gone_.begin(), gone_.end(), [&](const Gone& gone) {
    return gone.when >= asked.end && gone.when <= later &&
           gone.when < asked.end + gone.unsure;
  });
}

void Twin::ExpectPolite() const {
  std::vector<FakeContact> contacts = web_.log();
  std::erase_if(contacts, [](const FakeContact& contact) {
    return contact.contact == MonoTime{};
  });
  std::sort(contacts.begin(), contacts.end(),
            [](const FakeContact& a, const FakeContact& b) {
              return a.contact < b.contact;
            });
  const nanoseconds host_delay = plan_.settings.politeness.host_delay;
  const nanoseconds server_delay = plan_.settings.politeness.server_delay;
  std::map<std::string, const FakeContact*> hosts;
  std::map<net::IpAddress, const FakeContact*> addresses;
  for (const FakeContact& contact : contacts) {
    const FakeContact*& before = hosts[contact.host];
    if (before != nullptr) {
      nanoseconds delay = host_delay;
      const auto asked = plan_.crawl_delays.find(contact.host);
      const bool is_page = plan_.finals.contains(contact.url) ||
                           plan_.errors.contains(contact.url);
      if (is_page && asked != plan_.crawl_delays.end()) {
        delay = std::max(delay, asked->second);
      }
      if (Binds(*before, contact.begin)) {
        delay = std::max<nanoseconds>(delay, before->retry_after);
      }
      EXPECT_GE(Seconds(contact.begin - before->end), Seconds(delay))
          << contact.url << " came early, after " << before->url;
    }
    before = &contact;
    const FakeContact*& last = addresses[contact.address];
    if (last != nullptr) {
      EXPECT_GE(Seconds(contact.contact - last->contact), Seconds(server_delay))
          << contact.url << " came early, after " << last->url
          << " of the same address";
    }
    last = &contact;
  }
}

// How often a robots.txt is asked for that fails depends on when the URLs come
// that it is for, one that was asked for yesterday is asked for again, and a
// page that never answers is given up sooner if its host is dead; all else is
// asked for as often as by any crawl.
size_t Twin::CountedRequests() const {
  const auto yesterday = plan_.settings.robots.max_age / 8 * 7;
  std::map<std::string, MonoTime> last;
  size_t counted = 0;
  for (const FakeContact& contact : web_.log()) {
    const std::string& url = contact.url;
    const bool is_robots = url.find("/robots.txt") != std::string::npos;
    const bool is_of_robots =
        is_robots || url.find("/rules-of-") != std::string::npos;
    const auto [before, is_first] = last.emplace(url, contact.begin);
    const auto since =
        contact.begin - std::exchange(before->second, contact.begin);
    if (is_of_robots && !is_first && since >= yesterday) continue;
    const auto found = plan_.answers.find(url);
    if (found != plan_.answers.end()) {
      const std::vector<FakeAnswer>& answers = found->second;
      const bool ever_answers =
          answers.back().outcome == item::FetchOutcome::kResponse;
      if (!ever_answers) continue;
      const bool is_sound = answers.size() == 1 && answers[0].status < 500;
      if (is_robots && !is_sound) continue;
    }
    ++counted;
  }
  return counted;
}

// Requests and crashes in their order, for people.
std::string Twin::Story() const {
  std::multimap<MonoTime, std::string> events;
  for (const FakeContact& contact : web_.log()) {
    const std::string length =
        contact.end == MonoTime::max()
            ? "open"
            : std::to_string(Seconds(contact.end - contact.begin));
    events.emplace(contact.begin, contact.url + " " + length);
  }
  for (const Gone& gone : gone_) {
    events.emplace(gone.when, gone.power ? "power lost" : "process ended");
  }
  std::string story;
  for (const auto& [when, what] : events) {
    story.append(std::to_string(Seconds(when.time_since_epoch())))
        .append(" ")
        .append(what)
        .append("\n");
  }
  return story;
}

void Twin::ExpectFewRequests() const {
  if (gone_.empty()) return;
  MemoryFileSystem fs;
  Twin undisturbed(plan_);
  undisturbed.Finish(fs);
  const size_t most = undisturbed.CountedRequests() + allowed_;
  EXPECT_LE(CountedRequests(), most) << Story() << "undisturbed:\n"
                                     << undisturbed.Story();
}

size_t UndisturbedRequests(const TwinPlan& plan) {
  MemoryFileSystem fs;
  Twin twin(plan);
  twin.Finish(fs);
  if (!testing::Test::HasFatalFailure()) twin.ExpectAll(fs);
  return twin.CountedRequests();
}

std::pair<uint64_t, uint64_t> TwinSeeds(uint64_t begin, uint64_t end) {
  const char* asked = std::getenv("NEPHILA_TWIN_SEED");
  if (asked == nullptr) return {begin, end};
  char* rest = nullptr;
  const uint64_t first = std::strtoull(asked, &rest, 10);
  const uint64_t last =
      *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : first;
  return {first, last + 1};
}

}  // namespace nephila::crawl
