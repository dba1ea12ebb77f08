#include "crawl/golden_testing.h"

#include <chrono>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kFiles = "/files.tsv";
constexpr std::string_view kRequests = "/requests.tsv";
constexpr size_t kMostBytes = size_t{16} << 20;

std::vector<std::string> Urls(const std::string& host, size_t first,
                              size_t last) {
  std::vector<std::string> urls;
  for (size_t i = first; i <= last; ++i) {
    urls.push_back("http://" + host + "/" + std::to_string(i));
  }
  return urls;
}

void Add(std::vector<std::string>* links,
         const std::vector<std::string>& more) {
  links->insert(links->end(), more.begin(), more.end());
}

// A page that the archive must hold once.
void Page(TwinPlan* plan, const std::string& url,
          const std::vector<std::string>& links = {}) {
  plan->answers[url] = {FakePage(TwinPage(links, url))};
  plan->finals.insert(url);
}

void Pages(TwinPlan* plan, const std::vector<std::string>& urls) {
  for (const std::string& url : urls) Page(plan, url);
}

FakeAnswer Rules(const std::string& text) {
  return FakeText("User-agent: *\nDisallow: /no\n" + text);
}

// Every host has an address of its own, the same in every process.
void NumberHosts(TwinPlan* plan, const std::vector<std::string>& hosts) {
  uint32_t number = 0xC6120201;
  for (const std::string& host : hosts) {
    plan->hosts[host] = {net::IpAddress::V4(number++)};
  }
}

Status ListTree(FileSystem& fs, const std::string& dir,
                std::vector<std::string>* paths) {
  paths->push_back(dir + "/");
  NEPHILA_TRY(const auto entries, fs.List(dir));
  for (const DirEntry& entry : entries) {
    const std::string path = dir + "/" + entry.name;
    if (entry.is_directory) {
      NEPHILA_RETURN_IF_ERROR(ListTree(fs, path, paths));
    } else {
      paths->push_back(path);
    }
  }
  return {};
}

Status WriteFile(FileSystem& fs, const std::string& path,
                 std::string_view bytes, uint64_t size) {
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kCreate));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  NEPHILA_RETURN_IF_ERROR(file->Write(0, std::as_bytes(std::span(bytes))));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(size));
  return file->Sync();
}

// The columns of requests.tsv.
std::string FormatLog(const GoldenJob& golden) {
  const auto count = [](MonoTime time) {
    return std::to_string(time.time_since_epoch().count());
  };
  std::string text = "killed\t" + count(golden.now) + "\n";
  for (const FakeContact& one : golden.log) {
    text.append(one.url).append("\t").append(one.host).append("\t");
    text.append(one.address.ToString()).append("\t");
    for (const MonoTime time : {one.begin, one.contact, one.end}) {
      text.append(count(time)).append("\t");
    }
    text.append(one.reused ? "1\t" : "0\t").append(one.lost ? "1\t" : "0\t");
    text.append(std::to_string(one.retry_after.count())).append("\n");
  }
  return text;
}

Unexpected<Error> Broken(std::string_view file) {
  return Unexpected(
      Error{ErrorCode::kCorruption, "the golden job's " + std::string(file)});
}

Result<GoldenJob> ParseLog(const std::string& text) {
  std::istringstream lines(text);
  GoldenJob golden;
  std::string word;
  int64_t now = 0;
  if (!(lines >> word >> now) || word != "killed") return Broken(kRequests);
  golden.now = MonoTime(std::chrono::nanoseconds(now));
  FakeContact one;
  int64_t begin = 0;
  int64_t contact = 0;
  int64_t end = 0;
  int64_t retry_after = 0;
  while (lines >> one.url >> one.host >> word >> begin >> contact >> end >>
         one.reused >> one.lost >> retry_after) {
    const auto address = net::IpAddress::Parse(word);
    if (!address) return Broken(kRequests);
    one.address = *address;
    one.begin = MonoTime(std::chrono::nanoseconds(begin));
    one.contact = MonoTime(std::chrono::nanoseconds(contact));
    one.end = MonoTime(std::chrono::nanoseconds(end));
    one.retry_after = seconds(retry_after);
    golden.log.push_back(one);
  }
  if (!lines.eof()) return Broken(kRequests);
  return golden;
}

}  // namespace

TwinPlan GoldenBroadPlan() {
  TwinPlan plan;
  plan.profile = config::Profile::kBroad;
  config::Settings& settings = plan.settings;
  settings = TwinSettings(plan.profile);
  settings.crawl.threads = 2;  // two streams of the archive
  settings.crawl.checkpoint_interval = milliseconds(150);
  settings.politeness.park_after = seconds(1);
  settings.fetch.retry_attempts = 2;
  settings.fetch.retry_wait = seconds(3);
  settings.fetch.retry_wait_max = seconds(3);
  settings.politeness.max_hosts = 8;
  settings.politeness.max_urls = 8;
  settings.reputation.base = 1;
  settings.reputation.most = 1;
  settings.budget.first_queues = 1;
  settings.scope.max_pages_per_host = 8;
  settings.scope.max_pages_per_domain = 10;
  settings.scope.max_hosts_per_domain = 2;
  settings.store.revisit_memory_bytes = uint64_t{1} << 20;
  plan.seeds = {"http://a.com/"};

  // Found in the first second.
  std::vector<std::string> links;
  for (const char* host : {"a.com", "b.com", "c.com"}) {
    Add(&links, Urls(host, 1, 3));
  }
  for (size_t i = 0; i < links.size(); ++i) {
    Page(&plan, links[i], {links[(i * 4 + 3) % links.size()]});
  }
  Add(&links, {"http://a.com/no", "http://a.com/silent", "http://b.com/broken",
               "http://b.com/old", "http://nowhere.net/1"});
  Add(&links, Urls("walk.com", 1, 2));
  Add(&links, Urls("parked.com", 1, 3));
  Add(&links, Urls("delay.com", 1, 3));
  Add(&links, Urls("blocked.com", 1, 3));
  Page(&plan, "http://a.com/", links);
  Pages(&plan, Urls("walk.com", 1, 2));
  plan.answers["http://a.com/robots.txt"] = {Rules("")};
  FakeAnswer silent = FakeFailure(item::FetchOutcome::kTimeout);
  silent.takes = milliseconds(300);
  plan.answers["http://a.com/silent"] = {silent};
  plan.answers["http://b.com/broken"] = {FakeError(500)};
  plan.answers["http://b.com/old"] = {FakeRedirect("http://b.com/new")};
  plan.finals.insert("http://b.com/old");
  Page(&plan, "http://b.com/new");
  plan.failures["nowhere.net"].assign(1000, dns::Outcome::kNoSuchName);

  // The second hop takes longer than the process lives.
  plan.answers["http://walk.com/robots.txt"] = {
      FakeRedirect("http://rules.net/rules-of-walk.com", 301)};
  FakeAnswer slow = Rules("");
  slow.takes = seconds(30);
  plan.answers["http://rules.net/rules-of-walk.com"] = {slow};

  // These are parked: one by Retry-After, two by Crawl-delay.
  FakeAnswer busy = FakeError(503);
  busy.fields.emplace_back("Retry-After", "60");
  // Found a minute after the process was killed: two capped URLs too many, the
  // last of its domain, one too many, and a host too many.
  std::vector<std::string> late = Urls("capped.com", 6, 10);
  Add(&late,
      {"http://h2.many.com/5", "http://h1.many.com/6", "http://h3.many.com/1"});
  plan.answers["http://parked.com/1"] = {
      busy, FakePage(TwinPage(late, "http://parked.com/1"))};
  plan.finals.insert("http://parked.com/1");
  plan.errors["http://parked.com/1"] = 1;
  Page(&plan, "http://parked.com/2");
  // Quarantined: nobody finds its link.
  Page(&plan, "http://parked.com/3", {"http://a.com/hidden"});
  Pages(&plan, Urls("capped.com", 6, 8));
  Page(&plan, "http://h2.many.com/5");
  plan.answers["http://delay.com/robots.txt"] = {Rules("Crawl-delay: 5\n")};
  plan.crawl_delays["delay.com"] = seconds(5);
  plan.answers["http://blocked.com/robots.txt"] = {Rules("Crawl-delay: 30\n")};
  plan.crawl_delays["blocked.com"] = seconds(30);
  // Blocked before its first page may be requested.
  for (const std::string& url : Urls("blocked.com", 1, 3)) {
    plan.answers[url] = {FakePage(TwinPage({}, url))};
  }

  // Found after five seconds, shortly before the process is killed.
  std::vector<std::string> burst = Urls("e.com", 1, 8);
  Add(&burst, Urls("f.com", 1, 8));
  Add(&burst, Urls("capped.com", 1, 5));
  Add(&burst, Urls("h1.many.com", 1, 5));
  Add(&burst, Urls("h2.many.com", 1, 4));
  Pages(&plan, burst);
  const FakeAnswer copy = FakePage(TwinPage({}, std::string(1200, 'c')));
  for (const std::string& url : Urls("f.com", 1, 3)) {
    plan.answers[url] = {copy};
  }
  // Found by a page that only the journal has.
  std::vector<std::string> held;
  for (const char* host : {"g.com", "www.g.com", "i.com", "www.i.com"}) {
    Add(&held, Urls(host, 1, 5));
  }
  Pages(&plan, held);
  Page(&plan, "http://e.com/1", held);
  burst.insert(burst.begin(), {"http://flaky.com/1", "http://walk2.com/1"});
  Page(&plan, "http://delay.com/1", burst);
  Pages(&plan, Urls("delay.com", 2, 3));
  plan.answers["http://flaky.com/1"] = {FakeError(500),
                                        FakePage(TwinPage({}, "flaky"))};
  plan.finals.insert("http://flaky.com/1");
  plan.errors["http://flaky.com/1"] = 1;
  // The second hop waits for the one of walk.com.
  plan.answers["http://walk2.com/robots.txt"] = {
      FakeRedirect("http://rules.net/rules-of-walk2.com", 301)};
  plan.answers["http://rules.net/rules-of-walk2.com"] = {Rules("")};
  Page(&plan, "http://walk2.com/1");

  plan.broken = {"http://b.com/broken"};
  plan.errors["http://b.com/broken"] = 2;
  // Denied, silent, without a name, three blocked, four capped.
  plan.urls = plan.finals.size() + plan.broken.size() + 10;
  NumberHosts(&plan, {"a.com",      "b.com",       "c.com",       "walk.com",
                      "rules.net",  "parked.com",  "delay.com",   "blocked.com",
                      "capped.com", "h1.many.com", "h2.many.com", "h3.many.com",
                      "e.com",      "f.com",       "flaky.com",   "walk2.com",
                      "g.com",      "www.g.com",   "i.com",       "www.i.com"});
  return plan;
}

TwinPlan GoldenSitePlan() {
  TwinPlan plan;
  plan.seed = 1;
  plan.profile = config::Profile::kSite;
  plan.settings = TwinSettings(plan.profile);
  plan.settings.scope.bounds = config::ScopeBounds::kSite;
  plan.settings.fetch.retry_attempts = 2;
  plan.settings.crawl.checkpoint_interval = milliseconds(100);
  plan.seeds = {"http://old.com/"};
  plan.answers["http://old.com/"] = {FakeRedirect("http://www.new.org/", 301)};
  plan.finals.insert("http://old.com/");
  std::vector<std::string> links = Urls("www.new.org", 1, 4);
  Add(&links,
      {"http://blog.new.org/", "http://old.com/1", "http://elsewhere.net/"});
  Page(&plan, "http://www.new.org/", links);
  Pages(&plan, Urls("www.new.org", 1, 3));
  // Found when the job is resumed: of the sites that the manifest names.
  Page(&plan, "http://www.new.org/4",
       {"http://www.new.org/5", "http://blog.new.org/1", "http://old.com/2",
        "http://elsewhere.net/1"});
  Page(&plan, "http://www.new.org/5");
  Pages(&plan, {"http://blog.new.org/", "http://blog.new.org/1",
                "http://old.com/1", "http://old.com/2"});
  plan.urls = plan.finals.size();
  NumberHosts(&plan,
              {"old.com", "www.new.org", "blog.new.org", "elsewhere.net"});
  return plan;
}

Status SaveGolden(FileSystem& fs, const GoldenJob& golden, FileSystem& to,
                  const std::string& dir) {
  std::vector<std::string> paths;
  NEPHILA_RETURN_IF_ERROR(ListTree(fs, "job", &paths));
  NEPHILA_RETURN_IF_ERROR(to.MakeDirs(dir));
  std::string sizes;
  for (const std::string& path : paths) {
    if (path.ends_with('/')) {
      NEPHILA_RETURN_IF_ERROR(to.MakeDirs(dir + "/" + path));
      sizes.append("0\t").append(path).append("\n");
      continue;
    }
    NEPHILA_TRY(std::string bytes, ReadWholeFile(fs, path, kMostBytes));
    sizes.append(std::to_string(bytes.size())).append("\t").append(path);
    sizes.append("\n");
    const size_t last = bytes.find_last_not_of('\0');
    bytes.resize(last == std::string::npos ? 0 : last + 1);
    NEPHILA_RETURN_IF_ERROR(
        WriteFile(to, dir + "/" + path, bytes, bytes.size()));
  }
  const std::string log = FormatLog(golden);
  NEPHILA_RETURN_IF_ERROR(
      WriteFile(to, dir + std::string(kFiles), sizes, sizes.size()));
  return WriteFile(to, dir + std::string(kRequests), log, log.size());
}

Result<GoldenJob> LoadGolden(FileSystem& from, const std::string& dir,
                             FileSystem& fs) {
  NEPHILA_TRY(const std::string sizes,
              ReadWholeFile(from, dir + std::string(kFiles), kMostBytes));
  std::istringstream lines(sizes);
  std::vector<std::string> folders;
  uint64_t size = 0;
  std::string path;
  while (lines >> size >> path) {
    if (path.ends_with('/')) {
      path.pop_back();
      NEPHILA_RETURN_IF_ERROR(fs.MakeDir(path));
      folders.push_back(path);
      continue;
    }
    NEPHILA_TRY(const std::string bytes,
                ReadWholeFile(from, dir + "/" + path, kMostBytes));
    if (bytes.size() > size) return Broken(kFiles);
    NEPHILA_RETURN_IF_ERROR(WriteFile(fs, path, bytes, size));
  }
  if (!lines.eof() || folders.empty()) return Broken(kFiles);
  for (const std::string& folder : folders) {
    NEPHILA_RETURN_IF_ERROR(fs.SyncDir(folder));
  }
  NEPHILA_RETURN_IF_ERROR(fs.SyncDir("."));
  NEPHILA_TRY(const std::string log,
              ReadWholeFile(from, dir + std::string(kRequests), kMostBytes));
  return ParseLog(log);
}

}  // namespace nephila::crawl
