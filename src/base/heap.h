// KeepHeapFlat: what is freed goes back to the system. ResidentBytes: what this
// process has of the machine's memory.
//
// glibc keeps freed memory for later: it raises its limit for separate mappings
// to 32 MiB as soon as one of that size was freed, and gives every thread a
// heap of its own. A program that promises a fixed size cannot have that.
#pragma once

#include <cstdint>

namespace nephila {

// For the start of main. Does nothing with other libraries' allocators.
void KeepHeapFlat();

// Now; 0 if the kernel does not tell.
uint64_t ResidentBytes();

}  // namespace nephila
