// Admission: what a stage says to something that is handed to it.
//
// A stage never grows without bound: where it has no room it refuses, and the
// one who hands on keeps what was refused and comes again after some steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace nephila::item {

enum class Admission : uint8_t {
  kTaken,  // held, handed on, or dropped and counted: no longer the caller's
  kFull,   // nothing was done; the same again later
};

// Where a stage hands encoded UrlRecords (url_record.h), in order.
using RecordSink = std::function<Result<Admission>(std::string_view record)>;

}  // namespace nephila::item
