// QuestionIds: the 16 random bits of a question, by which, with its port, its
// answer is known. From the kernel's generator: whoever could guess them could
// answer in the server's place (RFC 5452).
//
// Threads: one. Cost: a system call for every 128.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace nephila::dns {

class QuestionIds {
 public:
  uint16_t Next() {
    if (used_ == ids_.size()) {
      // Up to 256 bytes are never cut short, and after the boot never waited
      // for (getrandom(2)).
      NEPHILA_CHECK(getrandom(ids_.data(), kBytes, 0) ==
                    static_cast<ssize_t>(kBytes));
      used_ = 0;
    }
    return ids_[used_++];
  }

 private:
  static constexpr size_t kBytes = 256;
  std::array<uint16_t, kBytes / 2> ids_{};
  size_t used_ = kBytes / 2;
};

}  // namespace nephila::dns
