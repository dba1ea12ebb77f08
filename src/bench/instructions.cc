#include "bench/instructions.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nephila::bench {

InstructionCounter::InstructionCounter() {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  fd_ =
      static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

InstructionCounter::~InstructionCounter() {
  if (fd_ >= 0) close(fd_);
}

void InstructionCounter::Start() {
  if (fd_ < 0) return;
  ioctl(fd_, PERF_EVENT_IOC_RESET, 0);
  ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0);
}

std::optional<uint64_t> InstructionCounter::Stop() {
  if (fd_ < 0) return std::nullopt;
  ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
  uint64_t count = 0;
  if (read(fd_, &count, sizeof(count)) != sizeof(count) || count == 0) {
    return std::nullopt;
  }
  return count;
}

}  // namespace nephila::bench
