#include "bench/bench_drum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace nephila::bench {
namespace {

class BenchDrumTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "bench_drum" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    options_.directory = folder_;
    options_.json = true;
    options_.links = 200'000;
    options_.memory_bytes = size_t{1} << 20;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  nlohmann::json Run() {
    std::ostringstream out;
    std::ostringstream progress;
    Status status = RunBenchDrum(options_, out, progress);
    EXPECT_TRUE(status) << status.error().message;
    return nlohmann::json::parse(out.str());
  }

  std::string folder_;
  BenchDrumOptions options_;
};

TEST_F(BenchDrumTest, PrintsTheNamesThatScriptsRelyOn) {
  options_.store = "mercator";
  options_.preload = 100'000;
  nlohmann::json line = Run();
  EXPECT_EQ(line["store"], "mercator");
  EXPECT_EQ(line["links"], 200'000);
  EXPECT_GT(line["passes"], 1);
  EXPECT_GT(line["links_per_s"], 0);
  EXPECT_EQ(line["bytes_per_key"], 8.0);
  EXPECT_GT(line["rss_bytes"], 0);
  EXPECT_TRUE(line["not_reached"].is_null());
  EXPECT_NEAR(line["unique_share"], 1.0 / 9, 0.02);
  EXPECT_GT(line["text_ratio"], 2);
  EXPECT_LT(line["text_ratio"], 100);
  EXPECT_GT(line["text_ratio_bucket_order"], 1.1);
  EXPECT_GT(line["text_ns_per_link"], 0);
  EXPECT_GT(line["text_ns_per_link_bucket_order"], 0);
  // Theorem 1 counts whole passes as parts of one, and no bytes of lengths.
  double predicted = line["alpha_predicted"];
  EXPECT_GT(predicted, 2);
  EXPECT_NEAR(line["alpha_measured"].get<double>() / predicted, 1, 0.25);
}

TEST_F(BenchDrumTest, RunsOurStoreUnlessAskedForAnother) {
  options_.preload = 2'000'000;
  options_.memory_bytes = size_t{256} << 20;  // for blocks as of the sample
  nlohmann::json line = Run();
  EXPECT_EQ(line["store"], "drum");
  EXPECT_EQ(line["passes"], 1);
  const nlohmann::json& parts = line["alpha_parts"];
  const nlohmann::json& predicted = parts["predicted"];
  EXPECT_NEAR(line["alpha_predicted"],
              predicted["log"].get<double>() +
                  predicted["buckets_and_z"].get<double>() +
                  predicted["unique_text"].get<double>(),
              1e-9);
  EXPECT_NEAR(line["alpha_measured"],
              parts["measured"]["read"].get<double>() +
                  parts["measured"]["written"].get<double>() +
                  parts["measured"]["unique_text"].get<double>(),
              1e-9);
  for (const char* part : {"log", "unique_text"}) {
    EXPECT_NEAR(parts["measured"][part], predicted[part], 0.02) << part;
  }
  // Each bucket reads whole blocks of Z, which the model leaves out and which
  // doubles so small a Z.
  double ratio = line["alpha_measured"].get<double>() /
                 line["alpha_predicted"].get<double>();
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 2.2);
}

TEST_F(BenchDrumTest, ACodecOfOnesChoiceIsTheStoresAndTheSamples) {
  options_.codec = Codec::kNone;
  options_.threads = 1;
  nlohmann::json line = Run();
  EXPECT_NEAR(line["text_ratio"], 1, 0.05);
  EXPECT_NEAR(line["log_ratio"], 1, 0.2);
  EXPECT_GT(line["alpha_predicted"], 2);
}

TEST_F(BenchDrumTest, LeavesNothingBehind) {
  Run();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(BenchDrumTest, APreloadThatTakesTooLongIsAResult) {
  options_.preload = 1'000'000;
  options_.load_limit_s = 0;
  nlohmann::json line = Run();
  EXPECT_TRUE(line["not_reached"].contains("keys_per_s"));
  EXPECT_FALSE(line.contains("links_per_s"));
}

TEST_F(BenchDrumTest, TakesLinksFromAFile) {
  std::string file = folder_ + "/links.txt";
  {
    std::ofstream lines(file);
    for (int i = 0; i < 30'000; ++i) {
      lines << "http://a.com/" << (i % 3 == 0 ? i + 1 : i) << "/x.html\n";
    }
  }
  options_.text_file = file;
  options_.links = 90'000;
  EXPECT_NEAR(Run()["unique_share"], 2.0 / 3, 0.001);
}

TEST_F(BenchDrumTest, ShuffledLinksAreAllNew) {
  options_.shuffled = true;
  EXPECT_EQ(Run()["unique_share"], 1.0);
}

TEST_F(BenchDrumTest, RefusesAnUnknownStore) {
  options_.store = "drumm";
  std::ostringstream out;
  Status status = RunBenchDrum(options_, out, out);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(out.str(), "");
}

TEST(ParseCount, KnowsThousandsMillionsAndBillions) {
  EXPECT_EQ(*ParseCount("0"), 0u);
  EXPECT_EQ(*ParseCount("12345"), 12345u);
  EXPECT_EQ(*ParseCount("10M"), 10'000'000u);
  EXPECT_EQ(*ParseCount("1.5b"), 1'500'000'000u);
  EXPECT_EQ(*ParseCount("2k"), 2000u);
  for (const char* wrong :
       {"", "M", "x", "-1", "1.5", "1e9", "1..5M", ".", "99999T"}) {
    EXPECT_FALSE(ParseCount(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace nephila::bench
