#include "bench/drum_prediction.h"

#include <gtest/gtest.h>

#include "drum/plan.h"

namespace nephila::bench {
namespace {

DrumFigures Figures() {
  DrumFigures figures;
  figures.link_bytes = 60;
  figures.text_ratio = 6;
  figures.unique_share = 0.125;
  figures.memory_bytes = uint64_t{512} << 20;
  figures.disk_bytes = uint64_t{512} << 20;
  figures.threads = 2;
  figures.known_keys = 10'000'000;
  return figures;
}

TEST(DrumPrediction, TakesItsSizesFromThePlan) {
  const DrumFigures figures = Figures();
  const drum::Plan plan =
      drum::MakePlan(figures.memory_bytes, figures.disk_bytes, figures.threads);
  model::StoreParameters parameters = ModelOfDrum(figures);
  EXPECT_EQ(parameters.log_block_bytes,
            static_cast<double>(plan.aux_block_bytes));
  EXPECT_EQ(parameters.disk_bytes, 2.0 * (256 << 20));
  EXPECT_EQ(parameters.key_record_bytes, 7);
  // With disk without end, buckets that can be sorted are the bound.
  parameters.disk_bytes = 1e18;
  EXPECT_DOUBLE_EQ(model::LinksPerPass(parameters),
                   static_cast<double>(uint64_t{1} << plan.bucket_bits) *
                       static_cast<double>(plan.bucket_sort_bytes) /
                       static_cast<double>(drum::kSortBytesPerTuple));
}

TEST(DrumPrediction, OfFullPassesIsTheModelItself) {
  const model::StoreParameters parameters = ModelOfDrum(Figures());
  const double links = 3 * model::LinksPerPass(parameters);
  const model::StoreAlpha model =
      model::AlphaStore(parameters, {parameters.known_keys}, 3);
  const model::StoreAlpha predicted = PredictAlpha(parameters, links);
  EXPECT_NEAR(predicted.alpha(), model.alpha(), 1e-9);
  EXPECT_NEAR(predicted.z_written, model.z_written, 1e-9);
}

// A pass reads all of Z, however few links it has: a pass and a tenth cost
// twice the reading, for a tenth more text.
TEST(DrumPrediction, APartOfAPassReadsAllOfZ) {
  const model::StoreParameters parameters = ModelOfDrum(Figures());
  const double in_pass = model::LinksPerPass(parameters);
  const double one = PredictAlpha(parameters, in_pass).z_read;
  const model::StoreAlpha more = PredictAlpha(parameters, 1.1 * in_pass);
  const double new_keys = 0.125 * in_pass;
  const double read = 2 * 1e7 * model::RiceBytesPerKey(1e7) +
                      new_keys * model::RiceBytesPerKey(new_keys);
  EXPECT_NEAR(more.z_read, read / (60 * 1.1 * in_pass), 1e-6);
  EXPECT_GT(more.z_read, 1.8 * one);
  EXPECT_NEAR(more.buckets, 2 * 7.0 / 60, 1e-9);
  EXPECT_NEAR(more.unique_text, 0.125, 1e-9);
}

TEST(DrumPrediction, LessThanAPassIsOnePass) {
  const model::StoreParameters parameters = ModelOfDrum(Figures());
  const model::StoreAlpha alpha = PredictAlpha(parameters, 1e6);
  EXPECT_NEAR(alpha.z_read, 1e7 * model::RiceBytesPerKey(1e7) / 60e6, 1e-6);
  EXPECT_EQ(alpha.runs.size(), 2u);
}

TEST(DrumPrediction, AnEmptyStoreHasNothingToRead) {
  DrumFigures figures = Figures();
  figures.known_keys = 0;
  EXPECT_EQ(PredictAlpha(ModelOfDrum(figures), 1e6).z_read, 0);
}

}  // namespace
}  // namespace nephila::bench
