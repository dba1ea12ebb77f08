#include "model/beast_model.h"

#include <algorithm>
#include <cmath>

namespace nephila::model {

double BudgetRounds(const BeastParameters& parameters, double pages) {
  return std::max(1.0, pages / (parameters.mean_budget * parameters.domains));
}

double NaiveDiskSpeed(const BeastParameters& parameters, double pages) {
  return 2 * parameters.url_bytes * parameters.pages_per_s *
         (parameters.unique_links - 1) * BudgetRounds(parameters, pages);
}

double DoublingDiskSpeed(const BeastParameters& parameters, double pages) {
  double beta = 2 / (BudgetRounds(parameters, pages) + 1);
  return 2 * parameters.pages_per_s * parameters.url_bytes *
         ((2 - beta) * (parameters.unique_links - 1) + 1);
}

double DoublingDiskSpeedLimit(const BeastParameters& parameters) {
  return 2 * parameters.pages_per_s * parameters.url_bytes *
         (2 * parameters.unique_links - 1);
}

double QueuesByThesis(const BeastParameters& parameters, double pages) {
  return (BudgetRounds(parameters, pages) + 1) / 2;
}

double QueuesByPaper(const BeastParameters& parameters, double pages) {
  double doublings = std::ceil(std::log2(BudgetRounds(parameters, pages) + 1));
  return std::exp2(doublings - 1);
}

}  // namespace nephila::model
