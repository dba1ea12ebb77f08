// nephila model: the papers' tables and theorems, computed.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/tables.h"

namespace nephila::cli {

struct ModelOptions {
  std::vector<std::string> tables;  // empty: all
  model::Parameters parameters;
  bool json = false;
};

// Prints the tables as text, or as JSON: a line a figure, then a line a note.
Status RunModel(const ModelOptions& options, std::ostream& out);

}  // namespace nephila::cli
