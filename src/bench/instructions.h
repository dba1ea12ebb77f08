// Counts the instructions of this thread, where the machine lets us.
#pragma once

#include <cstdint>
#include <optional>

namespace nephila::bench {

class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  void Start();
  // Instructions in user space since Start; nothing on machines that do not
  // count them (many virtual ones).
  std::optional<uint64_t> Stop();

 private:
  int fd_;
};

}  // namespace nephila::bench
