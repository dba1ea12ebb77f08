// The limit of open files, raised to what the system lets us have.
#pragma once

#include <cstddef>

namespace nephila::cli {

// How many there may be now.
size_t RaiseFileLimit();

}  // namespace nephila::cli
