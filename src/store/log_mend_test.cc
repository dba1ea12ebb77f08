// crawl.log after a crash: a line for each record, and none without.
#include "store/log_mend.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

class LogMendTest : public testing::Test {
 protected:
  LogMendTest() {
    options_.folder = "archive";
    options_.log_path = "archive/crawl.log";
    options_.stream = 2;
  }
  void Open(std::optional<StorePosition> checkpoint, Position keep) {
    store_.reset();
    options_.keep = keep;
    ++options_.seed;
    store_ = Must(Store::OpenAt(fs_, clock_, options_, checkpoint));
  }
  // Returns where it ends.
  Position Write(int number) {
    clock_.Advance(std::chrono::milliseconds(10));
    const std::string url = "http://example.com/" + std::to_string(number);
    TestPage page(url, "<p>" + url + "</p>");
    page.page.begin = clock_.WallNow();
    page.page.duration = std::chrono::milliseconds(5);
    page.page.via = "http://example.com/";
    page.page.hop_path = "LL";
    page.page.thread = 2;
    page.page.attempt = number == 3 ? 2 : 1;
    clock_.Advance(std::chrono::milliseconds(5));
    return Must(store_->Write(page.page)).place->end;
  }
  void WriteFailure() {
    TestPage page("http://example.com/failed");
    page.page.outcome = item::FetchOutcome::kTimeout;
    Must(store_->Write(page.page));
  }
  std::vector<std::string> Lines() {
    MustDo(store_->Sync());
    std::istringstream log(Get(fs_, options_.log_path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    return lines;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

TEST_F(LogMendTest, LinesThatWereInMemoryAreMadeAgain) {
  Open(std::nullopt, {});
  Write(1);
  MustDo(store_->Sync());
  const StorePosition checkpoint = store_->position();
  Write(2);
  Position end = Write(3);
  const std::vector<std::string> whole = Lines();
  ASSERT_EQ(whole.size(), 3U);
  // Two times: the same work done again, and the process killed before a line
  // is on disk.
  for (int i = 0; i < 2; ++i) {
    const std::string kept = Get(fs_, options_.log_path);
    Put(fs_, options_.log_path,
        kept.substr(0, i == 0 ? checkpoint.log_bytes : kept.size() - 20));
    Open(checkpoint, end);
    EXPECT_EQ(Lines(), whole);
  }
  Open(checkpoint, end);
  end = Write(4);
  store_.reset();
  Open(checkpoint, end);
  EXPECT_EQ(Lines().size(), 4U);
}

TEST_F(LogMendTest, LinesOfRecordsThatWereCutGo) {
  Open(std::nullopt, {});
  Write(1);
  MustDo(store_->Sync());
  const StorePosition checkpoint = store_->position();
  WriteFailure();
  const Position end = Write(2);
  const std::vector<std::string> known = Lines();
  ASSERT_EQ(known.size(), 3U);
  Write(3);
  Write(4);
  ASSERT_EQ(Lines().size(), 5U);
  Open(checkpoint, end);
  EXPECT_EQ(Lines(), known);
  // And none of another record passes for that of one.
  Write(5);
  EXPECT_EQ(Lines().size(), 4U);
}

TEST_F(LogMendTest, WithoutACheckpointAllIsLookedAt) {
  Open(std::nullopt, {});
  Write(1);
  MustDo(store_->Finish());
  const Position end = Write(2);
  const std::vector<std::string> whole = Lines();
  Put(fs_, options_.log_path, "");
  Open(std::nullopt, end);
  EXPECT_EQ(Lines(), whole);
  // Those who do not say what is known have a log of their own.
  Put(fs_, options_.log_path, "");
  store_.reset();
  options_.keep.reset();
  store_ = Must(Store::OpenAt(fs_, clock_, options_, std::nullopt));
  EXPECT_TRUE(Lines().empty());
}

}  // namespace
}  // namespace nephila::store
