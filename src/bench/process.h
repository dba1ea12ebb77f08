// What this process and its files use, as the kernel counts it.
#pragma once

#include <cstdint>
#include <string>

#include "base/heap.h"

namespace nephila::bench {

struct ProcessIo {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};
// From and to disk, page faults included.
ProcessIo ReadProcessIo();

// Memory that was resident at most since ResetPeak; base/heap.h has what is
// resident now.
uint64_t PeakResidentBytes();
// Gives freed memory back first. Where the kernel does not let us reset, the
// peak is that of the whole life of the process.
void ResetPeak();

// Descriptors that are open.
uint64_t OpenDescriptors();

// What the page cache of the machine holds, files of all processes.
uint64_t PageCacheBytes();
// Puts the files of a folder out of it, unless they are still to be written.
void ForgetFiles(const std::string& folder);
// That they have.
uint64_t FolderBytes(const std::string& folder);

// User and system time of all threads.
double CpuSeconds();

}  // namespace nephila::bench
