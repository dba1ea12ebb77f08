// ReadDoctype: what a DOCTYPE says, of the raw bytes that the tokenizer gives.
//
//   In: the bytes between "<!DOCTYPE" and '>'   Out: name and identifiers
//   Threads: any   Cost: linear in the bytes
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nephila::parse {

struct Doctype {
  std::optional<std::string> name;  // in lower case
  std::optional<std::string> public_id;
  std::optional<std::string> system_id;
  bool force_quirks = false;
};

// `at_end`: the input ended before a '>' (HTML s13.2.5.53 to s13.2.5.68).
Doctype ReadDoctype(std::string_view raw, bool at_end);

}  // namespace nephila::parse
