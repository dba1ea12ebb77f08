// KeepHeapFlat: what is freed goes back to the system.
//
// glibc keeps freed memory for later: it raises its limit for separate mappings
// to 32 MiB as soon as one of that size was freed, and gives every thread a
// heap of its own. A program that promises a fixed size cannot have that.
#pragma once

namespace nephila {

// For the start of main. Does nothing with other libraries' allocators.
void KeepHeapFlat();

}  // namespace nephila
