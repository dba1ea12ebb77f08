// How often this test program has allocated; linking it replaces operator new.
#pragma once

#include <cstddef>

namespace nephila::url {

size_t AllocationCount();

}  // namespace nephila::url
