#include "item/fetched_page.h"

#include "base/check.h"

namespace nephila::item {

std::string_view TruncationName(Truncation truncation) {
  switch (truncation) {
    case Truncation::kNone:
      return "";
    case Truncation::kLength:
      return "length";
    case Truncation::kTime:
      return "time";
    case Truncation::kDisconnect:
      return "disconnect";
    // The standard has no word for it.
    case Truncation::kPool:
    case Truncation::kUnspecified:
      return "unspecified";
  }
  NEPHILA_CHECK(false);
}

}  // namespace nephila::item
