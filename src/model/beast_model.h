// The disk speed that budgets need: thesis ch. VII, Theorems 6 and 7, and the
// WWW paper's form of them, eqs 8 to 11.
//
// Pure functions; bytes/s, decimal. Threads: any.
#pragma once

namespace nephila::model {

struct BeastParameters {
  double url_bytes = 110;     // b
  double pages_per_s = 3100;  // S
  double unique_links = 6.5;  // L, per page
  double mean_budget = 11;    // E[B_x]
  double domains = 33e6;      // V, in one pass through Q_F
};

// alpha_N = max(1, N / (E[B_x] V)), paper eq. 9.
double BudgetRounds(const BeastParameters& parameters, double pages);

// Theorem 6, (25), paper eq. 8: Q_F read whole whenever Q is empty.
double NaiveDiskSpeed(const BeastParameters& parameters, double pages);

// Theorem 7, (26) and (27), paper eq. 10: the number of queues doubles. The
// proof ends in beta = 1/2 for small N; (27) and eq. 10 have 1, which follows
// from (30) at N = E[B_x] V and is taken.
double DoublingDiskSpeed(const BeastParameters& parameters, double pages);

// 2Sb(2L - 1), what (26) tends to and never exceeds.
double DoublingDiskSpeedLimit(const BeastParameters& parameters);

// The queues of the last stage: (31), and paper eq. 11, which is (31) rounded
// up to the power of two that the doubling reaches.
double QueuesByThesis(const BeastParameters& parameters, double pages);
double QueuesByPaper(const BeastParameters& parameters, double pages);

}  // namespace nephila::model
