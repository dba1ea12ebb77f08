// The stage stopped at many of its writes: each URL comes out once, or is
// denied, and whatever had not ended is asked for again.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "item/stage_crash_testing.h"
#include "robots/robots_stage.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using item::Admission;
using std::chrono::minutes;

constexpr uint64_t kUrls = 1500;
constexpr uint64_t kOrigins = 60;

bool IsPrivate(uint64_t number) { return number % 5 == 0; }
uint64_t OriginOfUrl(uint64_t number) { return number * number % kOrigins; }

class RobotsWork {
 public:
  Status Run(FileSystem& fs) {
    NEPHILA_TRY(const auto stage, Start(fs));
    uint64_t next = manifest_.next;
    for (uint64_t turn = 1; next < kUrls || !stage->IsEmpty(); ++turn) {
      for (int i = 0; i < 60 && next < kUrls; ++i) {
        NEPHILA_TRY(
            const Admission added,
            stage->Add(EncodeUrl(OriginOfUrl(next), next, IsPrivate(next)), 1));
        if (added == Admission::kFull) break;
        ++next;
      }
      if (turn % 3 == 0) NEPHILA_RETURN_IF_ERROR(stage->Flush());
      NEPHILA_RETURN_IF_ERROR(Move(*stage));
      NEPHILA_RETURN_IF_ERROR(Fetch(*stage));
      if (turn % 4 == 0) NEPHILA_RETURN_IF_ERROR(Commit(*stage, next));
      restarts_.clock().Advance(minutes(3));
    }
    EXPECT_EQ(stage->account().Imbalance(), 0);
    EXPECT_EQ(stage->account().Totals().out, out_.size());
    EXPECT_EQ(stage->account().Totals().in, kUrls);
    EXPECT_EQ(stage->stats().damaged_rules, 0U);
    return Commit(*stage, next);
  }

  void Check() const {
    std::map<uint64_t, int> times;
    for (const uint64_t number : out_) ++times[number];
    for (uint64_t number = 0; number < kUrls; ++number) {
      const bool forbidden =
          IsPrivate(number) && SiteForbids(OriginOfUrl(number));
      ASSERT_EQ(times[number], forbidden ? 0 : 1) << number;
    }
  }

 private:
  struct Manifest {
    uint64_t next = 0;
    size_t out = 0;
    std::map<uint64_t, uint64_t> times_asked;
  };

  Status Move(RobotsStage& stage) {
    NEPHILA_TRY(const bool more, stage.RunDry());
    NEPHILA_TRY(const size_t moved,
                stage.Step(
                    [this](const ReadyUrl& url) -> Result<Admission> {
                      if (++calls_ % 11 == 0) return Admission::kFull;
                      out_.push_back(NumberOf(url.record));
                      return Admission::kTaken;
                    },
                    150));
    static_cast<void>(more);
    static_cast<void>(moved);
    return {};
  }

  // Takes some requests, and ends the earliest, the latest and so on.
  Status Fetch(RobotsStage& stage) {
    NEPHILA_TRY(const size_t taken,
                stage.TakeRequests(
                    [this](const RobotsRequest& request) -> Result<Admission> {
                      open_.push_back(OriginNumber(request.origin));
                      return Admission::kTaken;
                    },
                    20));
    static_cast<void>(taken);
    for (size_t ends = (open_.size() + 1) / 2; ends > 0; --ends) {
      const size_t at = ends % 2 == 0 ? 0 : open_.size() - 1;
      const uint64_t origin = open_[at];
      open_.erase(open_.begin() + static_cast<ptrdiff_t>(at));
      SiteAnswer answer =
          AskSite(origin, times_asked_[origin]++, restarts_.clock().WallNow());
      const std::string text = OriginText(origin);
      answer.end.origin = text;
      answer.end.rules = answer.rules;
      NEPHILA_RETURN_IF_ERROR(stage.RobotsEnded(answer.end));
    }
    return stage.NoteHost(OriginText(calls_ % kOrigins),
                          restarts_.clock().WallNow(), 2, {}, 1);
  }

  Result<std::unique_ptr<RobotsStage>> Start(FileSystem& fs) {
    out_.resize(manifest_.out);
    times_asked_ = manifest_.times_asked;
    open_.clear();
    return restarts_.Start(fs, SmallStage());
  }

  Status Commit(RobotsStage& stage, uint64_t next) {
    NEPHILA_RETURN_IF_ERROR(restarts_.Commit(stage));
    manifest_ = {next, out_.size(), times_asked_};
    return {};
  }

  item::Restarts<RobotsStage> restarts_;
  uint64_t calls_ = 0;
  Manifest manifest_;
  std::vector<uint64_t> out_;
  std::vector<uint64_t> open_;
  std::map<uint64_t, uint64_t> times_asked_;
};

TEST(RobotsCrash, EachUrlComesOutOnceWhereverTheMachineStops) {
  item::StopAtManyPlaces<RobotsWork>(25);
}

}  // namespace
}  // namespace nephila::robots
