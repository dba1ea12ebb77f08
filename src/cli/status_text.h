// A job's status for people: of the JSON that `nephila status --json` prints.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace nephila::cli {

// What is not in it is left out: a stopped job knows less.
void PrintStatus(const nlohmann::ordered_json& status, std::ostream& out);

}  // namespace nephila::cli
