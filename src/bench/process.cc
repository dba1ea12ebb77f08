#include "bench/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "net/descriptor.h"

namespace nephila::bench {
namespace {

// A line "name: value kB" of a file of /proc, in bytes.
uint64_t ProcBytes(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    return std::stoull(line.substr(name.size())) * 1024;
  }
  return 0;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessIo ReadProcessIo() {
  std::ifstream file("/proc/self/io");
  ProcessIo io;
  std::string name;
  for (uint64_t value = 0; file >> name >> value;) {
    if (name == "read_bytes:") io.bytes_read = value;
    if (name == "write_bytes:") io.bytes_written = value;
  }
  return io;
}

uint64_t PeakResidentBytes() {
  return ProcBytes("/proc/self/status", "VmHWM:");
}
uint64_t PageCacheBytes() { return ProcBytes("/proc/meminfo", "Cached:"); }

void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

uint64_t OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator folder("/proc/self/fd", error);
  // One of them is that of the look itself.
  return static_cast<uint64_t>(
      std::max<ptrdiff_t>(0, std::distance(begin(folder), end(folder)) - 1));
}

uint64_t FolderBytes(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  // Files come and go meanwhile.
  for (std::filesystem::recursive_directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code gone;
    const uint64_t size = it->is_regular_file(gone) ? it->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

void ForgetFiles(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    const net::Descriptor file(open(it->path().c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() >= 0) posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

}  // namespace nephila::bench
