#include "bench/drum_prediction.h"

#include <cmath>
#include <utility>
#include <vector>

#include "drum/plan.h"

namespace nephila::bench {
namespace {

// The parts of `from`, weighed, on top of those of `to`.
void AddParts(const model::StoreAlpha& from, double weight,
              model::StoreAlpha* to) {
  to->log += weight * from.log;
  to->buckets += weight * from.buckets;
  to->z_read += weight * from.z_read;
  to->z_written += weight * from.z_written;
  to->unique_text += weight * from.unique_text;
  to->mean_runs = from.mean_runs;
  to->most_runs = from.most_runs;
  to->runs = from.runs;
}

}  // namespace

model::StoreParameters ModelOfDrum(const DrumFigures& figures) {
  const drum::Plan plan =
      drum::MakePlan(figures.memory_bytes, figures.disk_bytes, figures.threads);
  model::StoreParameters parameters;
  parameters.link_bytes = figures.link_bytes;
  parameters.text_ratio = figures.text_ratio;
  parameters.log_block_bytes = static_cast<double>(plan.aux_block_bytes);
  parameters.unique_share = figures.unique_share;
  parameters.disk_bytes = 2 * static_cast<double>(plan.batch_disk_bytes);
  parameters.buckets = std::ldexp(1.0, plan.bucket_bits);
  parameters.key_record_bytes =
      static_cast<double>(drum::KeyBytes(plan.bucket_bits));
  // The model sorts a bucket in a quarter of the memory, the plan in what it
  // has set aside for each of several: R such that both bounds are equal.
  parameters.ram_bytes = 4 * static_cast<double>(plan.bucket_sort_bytes);
  parameters.sort_bytes = static_cast<double>(drum::kSortBytesPerTuple);
  parameters.known_keys = static_cast<double>(figures.known_keys);
  return parameters;
}

model::StoreAlpha PredictAlpha(const model::StoreParameters& parameters,
                               double links) {
  std::vector<double> runs;
  if (parameters.known_keys > 0) runs.push_back(parameters.known_keys);
  const double in_pass = model::LinksPerPass(parameters);
  const double passes = std::floor(links / in_pass);
  const double rest = links - passes * in_pass;
  model::StoreAlpha sum;
  if (passes > 0) {
    model::StoreAlpha full = model::AlphaStore(parameters, std::move(runs),
                                               static_cast<uint64_t>(passes));
    runs = full.runs;
    AddParts(full, passes * in_pass / links, &sum);
  }
  // Less than a link is rounding.
  if (rest >= 1) {
    model::StoreParameters last = parameters;
    last.disk_bytes =
        2 * rest *
        (parameters.key_record_bytes + model::LogBytesPerLink(parameters));
    AddParts(model::AlphaStore(last, std::move(runs), 1), rest / links, &sum);
  }
  return sum;
}

}  // namespace nephila::bench
