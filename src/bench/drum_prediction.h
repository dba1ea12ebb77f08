// What the model says of a run of our store, from its options and a sample of
// its links: nothing that only the run itself could tell.
#pragma once

#include <cstdint>

#include "model/store_model.h"

namespace nephila::bench {

struct DrumFigures {
  double link_bytes = 0;
  double text_ratio = 0;  // in arrival order
  double unique_share = 0;
  uint64_t memory_bytes = 0;
  uint64_t disk_bytes = 0;
  int threads = 0;
  uint64_t known_keys = 0;
};

// With buckets, blocks and memory for sorting as drum/plan.h divides them.
model::StoreParameters ModelOfDrum(const DrumFigures& figures);

// Over `links` links from a store whose known keys are one run: as many full
// passes as there are, and one of the rest, each by its share of the links.
// The runs and their numbers are those of the last pass.
// REQUIRES: links >= 1.
model::StoreAlpha PredictAlpha(const model::StoreParameters& parameters,
                               double links);

}  // namespace nephila::bench
