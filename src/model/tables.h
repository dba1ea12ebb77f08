// The papers' tables and the figures in their text, computed again, and those
// of our own store.
//
// The printed figures stand as data beside the formulas that they check. With
// the papers' parameters (the defaults) every figure that differs beyond its
// digits has a note that says why; with others the notes are left out, as they
// would not hold, and one line names what was changed. Pure. Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/beast_model.h"
#include "model/cache_model.h"
#include "model/drum_model.h"
#include "model/store_model.h"
#include "model/table.h"

namespace nephila::model {

struct Parameters {
  DrumParameters drum = {};
  CacheParameters cache = {};
  BeastParameters beast = {};            // its url_bytes is that of `drum`
  double disk_bytes = 4.39e12;           // D of table II
  double miss_rate = 0.33;               // pi of table VI
  double cache_bytes = 320e6;            // c of table VI
  StoreParameters store = {};            // of our own store
  std::vector<double> pages = {};        // N; empty: the papers' in each table
  std::vector<double> ram_bytes = {};    // R; likewise
  std::vector<double> store_disks = {};  // D of `store`; likewise
};

// One number of Parameters, for command lines.
struct NamedParameter {
  std::string symbol;
  std::string doc;
  double* value;
  double min;
  double max;
};
std::vector<NamedParameter> Named(Parameters* parameters);

// "II", "III", "drum", ... in the order of the thesis; then our own store's.
std::span<const std::string_view> TableNames();

// kInvalidArgument if there is no such table (case does not matter) or a value
// is out of its range. Table VI leaves out an R that c takes whole.
Result<Table> MakeTable(std::string_view name, const Parameters& parameters);

}  // namespace nephila::model
