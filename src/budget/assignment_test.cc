#include "budget/assignment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "item/budget_function.h"

namespace nephila::budget {
namespace {

using std::chrono::seconds;

TEST(Assignment, TheFirstShareGoesToTheNextQueueAndTheNextBehindIt) {
  PldRecord record;
  const Window window{5, 7};
  std::vector<uint64_t> queues;
  for (int i = 0; i < 8; ++i) {
    queues.push_back(AssignQueue(window, 2, record));
  }
  EXPECT_EQ(queues, (std::vector<uint64_t>{5, 5, 6, 6, 7, 7, 0, 0}));
  EXPECT_EQ(record.next_queue, 7U);
  EXPECT_EQ(record.fill, 2U);
}

TEST(Assignment, GoingToFailedChangesNeitherQueueNorFill) {
  PldRecord record;
  record.next_queue = 7;
  record.fill = 2;
  const PldRecord before = record;
  EXPECT_EQ(AssignQueue({5, 7}, 2, record), 0U);
  EXPECT_EQ(record, before);
  // The queue was full for the share of then; a larger one finds room.
  EXPECT_EQ(AssignQueue({5, 7}, 3, record), 7U);
}

TEST(Assignment, AQuietDomainHasNoCredit) {
  PldRecord record;
  record.next_queue = 3;
  record.fill = 1;
  EXPECT_EQ(AssignQueue({100, 101}, 1, record), 100U);
  EXPECT_EQ(AssignQueue({100, 101}, 1, record), 101U);
  EXPECT_EQ(AssignQueue({100, 101}, 1, record), 0U);
}

TEST(Assignment, AnEmptyWindowMeansFailed) {
  PldRecord record;
  EXPECT_EQ(AssignQueue({2, 1}, 10, record), 0U);
  EXPECT_EQ(record, PldRecord());
}

TEST(Assignment, AQueueTakesNoMoreThanCanBeFetchedWhileItIsPassed) {
  PassParameters parameters;
  EXPECT_EQ(QueueShare(50, 10, 1, parameters), 50U);
  EXPECT_EQ(QueueShare(0, 10, 1, parameters), 1U);
  parameters.host_delay = seconds(40);
  parameters.host_delay_floor = seconds(10);
  EXPECT_EQ(QueueShare(50, 10, 1, parameters), 50U);  // T is not known
  parameters.queue_time = seconds(200);
  EXPECT_EQ(QueueShare(10, 10, 1, parameters), 5U);
  EXPECT_EQ(QueueShare(10, 10, 3, parameters), 10U);
  EXPECT_EQ(QueueShare(20, 10, 1, parameters), 10U);      // a delay of 20 s
  EXPECT_EQ(QueueShare(10'000, 10, 1, parameters), 20U);  // of 10 s
  EXPECT_EQ(QueueShare(10'000, 10, 100, parameters), 2000U);
  parameters.queue_time = seconds(1);
  EXPECT_EQ(QueueShare(10, 10, 1, parameters), 1U);
}

TEST(PldRecord, ComesBackFromItsBytes) {
  PldRecord record;
  record.in_degree = 5;
  std::string bytes;
  AppendPldRecord(record, bytes);
  EXPECT_EQ(bytes.size(), 1U);
  EXPECT_EQ(ReadPldRecord(bytes), record);
  record.next_queue = 300;
  record.fill = 7;
  record.hosts = HostSketch(0x1234);
  bytes.clear();
  AppendPldRecord(record, bytes);
  EXPECT_EQ(ReadPldRecord(bytes), record);
  for (size_t size = 2; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadPldRecord(bytes.substr(0, size)).has_value());
  }
  EXPECT_FALSE(ReadPldRecord("").has_value());
}

TEST(PassParameters, ComeBackFromTheirBytes) {
  PassParameters parameters;
  parameters.window = {3, 9};
  parameters.split = {10, 17};
  parameters.queue_time = seconds(3);
  parameters.host_delay = seconds(40);
  parameters.host_delay_floor = seconds(10);
  parameters.function = "f";
  const std::string bytes = EncodeParameters(parameters);
  const auto read = ReadParameters(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->window.first, 3U);
  EXPECT_EQ(read->window.last, 9U);
  EXPECT_EQ(read->split.first, 10U);
  EXPECT_EQ(read->split.last, 17U);
  EXPECT_EQ(read->queue_time, parameters.queue_time);
  EXPECT_EQ(read->host_delay, parameters.host_delay);
  EXPECT_EQ(read->host_delay_floor, parameters.host_delay_floor);
  EXPECT_EQ(read->function, "f");
  EXPECT_FALSE(ReadParameters(bytes.substr(0, 40)).has_value());
}

class RuleTest : public ::testing::Test {
 protected:
  RuleTest() {
    function_ = item::EncodeBudgetFunction(config::BudgetPolicy::kProportional,
                                           2, 100, {});
    PassParameters parameters;
    parameters.window = {2, 3};
    parameters.split = {4, 5};
    parameters.function = function_;
    parameters_ = EncodeParameters(parameters);
  }
  Answer Meet(const std::string& value) {
    std::string answer = record_;
    const drum::Verdict verdict = rule_->Merge(
        {drum::Operation::kCheckUpdate, 1, value, parameters_, found_}, record_,
        answer);
    wrote_ = verdict == drum::Verdict::kWrite;
    found_ |= wrote_;
    return *ReadAnswer(answer);
  }

  std::string function_;
  std::string parameters_;
  std::string record_;
  bool found_ = false;
  bool wrote_ = false;
  std::shared_ptr<const drum::MergeRule> rule_ = MakeAssignmentRule();
};

TEST_F(RuleTest, InDegreesAddUpAndRaiseTheBudget) {
  EXPECT_EQ(Meet(UrlValue(TupleKind::kUrl, 0x11)).budget, 2U);
  const Answer answer = Meet(InDegreeValue(3));
  EXPECT_EQ(answer.kind, TupleKind::kInDegree);
  EXPECT_EQ(answer.before, 0U);
  EXPECT_EQ(answer.after, 3U);
  EXPECT_EQ(Meet(InDegreeValue(2)).after, 5U);
  EXPECT_EQ(Meet(UrlValue(TupleKind::kUrl, 0x11)).budget, 10U);
  EXPECT_EQ(Meet(InDegreeValue(UINT64_MAX)).after, UINT64_MAX);
}

TEST_F(RuleTest, UrlsOfASplitHaveTheQueuesBehindTheWindow) {
  EXPECT_EQ(Meet(UrlValue(TupleKind::kUrl, 0x11)).queue, 2U);
  EXPECT_EQ(Meet(UrlValue(TupleKind::kSplitUrl, 0x11)).queue, 4U);
  EXPECT_EQ(Meet(UrlValue(TupleKind::kUrl, 0x11)).queue, 0U);
  EXPECT_FALSE(wrote_);
  EXPECT_EQ(Meet(UrlValue(TupleKind::kSplitUrl, 0x11)).queue, 4U);
  EXPECT_EQ(Meet(UrlValue(TupleKind::kSplitUrl, 0x11)).queue, 5U);
}

TEST_F(RuleTest, HostsAreNotedEvenOnTheWayToFailed) {
  for (int i = 0; i < 4; ++i) Meet(UrlValue(TupleKind::kUrl, 0x11));
  EXPECT_EQ(Meet(UrlValue(TupleKind::kUrl, 0x21)).queue, 0U);
  EXPECT_TRUE(wrote_);
  EXPECT_EQ(ReadPldRecord(record_)->hosts.Estimate(), 2U);
}

}  // namespace
}  // namespace nephila::budget
