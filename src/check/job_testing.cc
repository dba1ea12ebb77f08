#include "check/job_testing.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/file_testing.h"
#include "fetch/fetcher.h"

namespace nephila::check {
namespace {

using crawl::FakeError;
using crawl::FakeFailure;
using crawl::FakePage;
using crawl::FakeRedirect;
using crawl::FakeText;
using std::chrono::milliseconds;

class FakeWebOfJob final : public crawl::Web {
 public:
  explicit FakeWebOfJob(crawl::FakeWeb& web) : web_(web) {}
  Result<std::unique_ptr<dns::Resolver>> MakeResolver(
      net::EventLoop& loop) override {
    return std::unique_ptr<dns::Resolver>(
        std::make_unique<crawl::FakeResolver>(web_, loop));
  }
  Result<std::unique_ptr<fetch::Fetcher>> MakeFetcher(
      net::EventLoop& loop) override {
    return std::unique_ptr<fetch::Fetcher>(
        std::make_unique<crawl::FakeFetcher>(web_, loop));
  }
  const fetch::FetchLimits& limits() const override { return limits_; }

 private:
  crawl::FakeWeb& web_;
  const fetch::FetchLimits limits_;
};

std::string Links(const std::vector<std::string>& links) {
  std::string page = "<title>page</title>";
  for (const std::string& link : links) {
    page.append("<a href=\"").append(link).append("\">x</a>\n");
  }
  return page;
}

// Too long for the record of its site.
std::string LongRules() {
  std::string text = "User-agent: *\n";
  for (int i = 0; i < 400; ++i) {
    text += fmt::format("Disallow: /not/to/be/crawled/{}/for/a/reason\n", i);
  }
  return text;
}

// Three hosts; a redirect, one to its own key, a page that fails twice, one
// that is gone, one that is denied, two that are equal.
void PutWeb(crawl::FakeWeb* web) {
  web->Put("http://a.com/robots.txt",
           FakeText("User-agent: *\nDisallow: /no\nCrawl-delay: 0.2\n"));
  web->Put("http://b.com/robots.txt", FakeText(LongRules()));
  web->Put("http://a.com/", FakePage(Links({"/1", "/2", "/no", "//b.com/"})));
  web->Put("http://a.com/1", FakePage(Links({"/3", "/old", "/busy", "/self"})));
  web->Put("http://a.com/2", FakePage(Links({"/1", "/gone", "//c.com/x"})));
  web->Put("http://a.com/3", FakePage(Links({"/4"})));
  web->Put("http://a.com/4", FakePage(Links({"/", "/3"})));
  web->Put("http://a.com/old", FakeRedirect("http://b.com/new"));
  web->Put("http://a.com/self",
           {FakeRedirect("http://a.com/self"), FakePage("cookie was set")});
  web->Put("http://a.com/busy", {FakeFailure(item::FetchOutcome::kTimeout),
                                 FakeError(500), FakePage(Links({"/late"}))});
  web->Put("http://a.com/late", FakePage(""));
  web->Put("http://b.com/", FakePage(Links({"/1", "/2"})));
  web->Put("http://b.com/new", FakePage(Links({"/2"})));
  const std::string same(5000, 's');
  web->Put("http://b.com/1", FakePage(same));
  web->Put("http://b.com/2", FakePage(Links({"//c.com/"})));
  web->Put("http://c.com/", FakePage(same));
  web->Put("http://c.com/x", FakePage(Links({"/"})));
}

void List(FileSystem& fs, const std::string& dir,
          std::vector<std::string>* paths) {
  for (const DirEntry& entry : Must(fs.List(dir))) {
    const std::string path = dir + "/" + entry.name;
    if (entry.is_directory) {
      List(fs, path, paths);
    } else {
      paths->push_back(path);
    }
  }
}

}  // namespace

TestJob::TestJob(config::Profile profile)
    : settings(config::SettingsOf(profile)),
      profile_(profile),
      web_of_crawl_(std::make_unique<FakeWebOfJob>(web)) {
  settings.crawl.memory_bytes = uint64_t{64} << 20;
  settings.crawl.disk_bytes = uint64_t{256} << 20;
  settings.crawl.checkpoint_interval = milliseconds(400);
  settings.crawl.sync_interval = milliseconds(100);
  settings.politeness.host_delay = milliseconds(100);
  settings.politeness.host_delay_floor = milliseconds(100);
  settings.politeness.server_delay = milliseconds(10);
  settings.politeness.server_delay_floor = milliseconds(10);
  settings.politeness.back_off = milliseconds(100);
  settings.politeness.back_off_max = milliseconds(200);
  settings.fetch.retry_wait = milliseconds(200);
  settings.scope.bounds = config::ScopeBounds::kAll;
  settings.store.max_file_bytes = uint64_t{1} << 20;
  PutWeb(&web);
  MustDo(fs.MakeDir("scratch"));
}

TestJob::~TestJob() = default;

void TestJob::Open() {
  Close();
  job::JobRequest request;
  request.settings = settings;
  request.process_id = 1;
  request.profile = profile_;
  request.key_seed = 7;
  request.now = clock.WallNow();
  request.version = "test";
  // Short, so that files are soon read.
  request.suffix_list = "// ===BEGIN ICANN DOMAINS===\ncom\n";
  folder_ = Must(job::JobFolder::OpenOrCreate(fs, "job", request));
  crawl::Crawl::Parts parts{fs,       clock,     *web_of_crawl_,
                            settings, suffixes_, *folder_};
  parts.one_thread = true;
  parts.record_seed = ++runs_;
  crawl_ = Must(crawl::Crawl::Open(parts));
  if (folder_->is_new()) MustDo(crawl_->AddSeed("http://a.com/"));
}

void TestJob::Close() {
  crawl_.reset();
  folder_.reset();
}

bool TestJob::Run(uint64_t turns) {
  for (uint64_t i = 0; i < turns; ++i) {
    if (Must(crawl_->Turn(clock.Now()))) return true;
    clock.Advance(milliseconds(1));
  }
  return false;
}

void TestJob::Kill() {
  Close();
  fs.KillProcess();
}

CheckReport TestJob::Check() { return Must(TryCheck()); }

Result<CheckReport> TestJob::TryCheck() {
  JobCheckOptions options;
  options.dir = "job";
  options.settings = settings;
  options.scratch = "scratch";
  options.memory_bytes = uint64_t{64} << 20;
  return CheckJob(fs, clock, options);
}

std::map<std::string, std::string> TestJob::Files() {
  std::vector<std::string> paths;
  List(fs, "job", &paths);
  std::map<std::string, std::string> files;
  for (const std::string& path : paths) {
    files[path] = Must(ReadWholeFile(fs, path, size_t{1} << 30));
  }
  return files;
}

void TestJob::Restore(const std::map<std::string, std::string>& files) {
  std::vector<std::string> paths;
  List(fs, "job", &paths);
  for (const std::string& path : paths) {
    if (!files.contains(path)) MustDo(fs.Remove(path));
  }
  for (const auto& [path, contents] : files) Put(fs, path, contents);
}

std::string Describe(const CheckReport& report) {
  std::string text;
  for (const CheckReport::Part& part : report.parts) {
    text += fmt::format("{}: {}: {}\n", part.name, part.text, part.damages);
  }
  for (const Damage& damage : report.damages) {
    text += fmt::format("DAMAGE {} {}: {}\n", damage.file,
                        damage.offset.value_or(0), damage.what);
  }
  for (const Damage& note : report.notes) {
    text += fmt::format("note {}: {}\n", note.file, note.what);
  }
  return text;
}

bool NamesFile(const CheckReport& report, const std::string& path) {
  return std::any_of(
      report.damages.begin(), report.damages.end(), [&](const Damage& damage) {
        return "job/" + damage.file == path ||
               damage.what.find(path.substr(4)) != std::string::npos;
      });
}

}  // namespace nephila::check
