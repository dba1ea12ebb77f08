// A look at a job: it changes nothing, works beside a crawl, says in one line
// what is damaged, and begins again where the crawl was faster.
#include "inspect/job_view.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "crawl/recovery_testing.h"
#include "inspect/why.h"
#include "inspect/why_words.h"

namespace nephila::inspect {
namespace {

using crawl::FakePage;
using crawl::Links;
using std::chrono::milliseconds;

const std::string kUrl = "http://a.com/1";

void ListAll(FileSystem& fs, const std::string& dir,
             std::vector<std::string>* paths) {
  for (const DirEntry& entry : Must(fs.List(dir))) {
    const std::string path = dir + "/" + entry.name;
    if (entry.is_directory) {
      ListAll(fs, path, paths);
    } else {
      paths->push_back(path);
    }
  }
}

class JobViewTest : public crawl::RecoveryTest {
 protected:
  JobViewTest() {
    web_.Put("http://a.com/", FakePage(Links({"/1", "/2", "/3", "/4"})));
    for (const char* page : {"/1", "/2", "/3", "/4"}) {
      web_.Put(std::string("http://a.com") + page, FakePage(page));
    }
  }

  std::map<std::string, std::string> Files() {
    std::vector<std::string> paths;
    ListAll(fs_, "job", &paths);
    std::map<std::string, std::string> files;
    for (const std::string& path : paths) {
      // Allocated blocks that mean nothing.
      if (path.ends_with("reserve")) continue;
      files[path] = Must(ReadWholeFile(fs_, path, size_t{1} << 30));
    }
    return files;
  }
  Result<UrlFacts> Why() {
    UrlFacts facts;
    NEPHILA_RETURN_IF_ERROR(
        LookAt(fs_, {"job", settings_}, [&](JobView& job) -> Status {
          NEPHILA_TRY(facts, ExplainUrl(job, kUrl, {}, {}));
          return {};
        }));
    return facts;
  }
  void Turns(int count) {
    for (int i = 0; i < count; ++i) {
      Must(crawl_->Turn(clock_.Now()));
      clock_.Advance(milliseconds(1));
    }
  }
};

TEST_F(JobViewTest, NothingIsChanged) {
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  Turns(700);
  const auto before = Files();
  EXPECT_GT(Must(Why()).looked.manifest, 0U);
  EXPECT_TRUE(Files() == before);
}

TEST_F(JobViewTest, AJobWithoutACheckpointIsReadByItsJournal) {
  settings_.crawl.checkpoint_interval = std::chrono::hours(1);
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed(kUrl));
  EXPECT_EQ(Must(Why()).state, UrlState::kSeed);
  ASSERT_TRUE(TurnsUntilEntry([](const job::Entry& entry) {
    return entry.kind == job::EntryKind::kPage;
  }));
  const UrlFacts facts = Must(Why());
  EXPECT_EQ(facts.looked.manifest, 0U);
  EXPECT_EQ(facts.state, UrlState::kDone)
      << FormatText(facts, clock_.WallNow());
  EXPECT_EQ(facts.history.copies.size(), 1U);
}

TEST_F(JobViewTest, WhereThereIsNoJobOneLineSaysSo) {
  const auto facts = Why();
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(facts.error().message, "job: no job is there");
}

// Any byte of any file: an answer, or an error, and never the wrong state for
// a URL that is done, as long as nothing but its evidence is damaged.
TEST_F(JobViewTest, DamageIsAnErrorOrDoesNotMatter) {
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  Turns(900);
  Close();
  fs_.KillProcess();
  const auto files = Files();
  size_t errors = 0;
  for (const auto& [path, contents] : files) {
    if (contents.empty()) continue;
    for (size_t i = 0; i < 8; ++i) {
      std::string damaged = contents;
      const size_t at = (contents.size() - 1) * i / 7;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
      Put(fs_, path, damaged);
      const auto facts = Why();
      if (!facts.has_value()) {
        ++errors;
        EXPECT_NE(facts.error().message, "");
        EXPECT_EQ(facts.error().message.find('\n'), std::string::npos);
      }
    }
    Put(fs_, path, contents);
  }
  EXPECT_GT(errors, 10U);
}

TEST_F(JobViewTest, AFileThatGoesWhileItIsReadIsReadAnew) {
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  Turns(450);
  int looks = 0;
  MustDo(LookAt(fs_, {"job", settings_}, [&](JobView&) -> Status {
    if (++looks > 1) return {};
    // The crawl goes on meanwhile, for some checkpoints.
    Turns(1300);
    return Unexpected(Error{ErrorCode::kNotFound, "gone"});
  }));
  EXPECT_EQ(looks, 2);
}

TEST_F(JobViewTest, AnErrorOfAJobThatStandsStillIsTold) {
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  Turns(450);
  int looks = 0;
  const Status status =
      LookAt(fs_, {"job", settings_}, [&](JobView&) -> Status {
        ++looks;
        return Unexpected(Error{ErrorCode::kCorruption, "damaged"});
      });
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "damaged");
  EXPECT_EQ(looks, 1);
}

TEST_F(JobViewTest, ACrawlThatIsTooFastIsNotWaitedForForEver) {
  settings_.crawl.checkpoint_interval = milliseconds(1);
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  Turns(20);
  const Status status =
      LookAt(fs_, {"job", settings_}, [&](JobView&) -> Status {
        Turns(20);
        return Unexpected(Error{ErrorCode::kNotFound, "gone"});
      });
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kBusy);
  EXPECT_NE(status.error().message.find("--scan"), std::string::npos);
}

TEST(IsHostName, HostsHaveNoSchemeAndNoPath) {
  for (const char* host : {"a.com", "A.COM", "a.com:8080", "localhost",
                           "127.0.0.1", "[::1]", "[::1]:80", "a.com."}) {
    EXPECT_TRUE(IsHostName(host)) << host;
  }
  for (const char* url : {"", "http://a.com", "a.com/", "a.com/x", "mailto:x",
                          "//a.com", "a.com?x", "user@a.com", ":80"}) {
    EXPECT_FALSE(IsHostName(url)) << url;
  }
}

}  // namespace
}  // namespace nephila::inspect
