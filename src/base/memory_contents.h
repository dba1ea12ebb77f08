// MemoryContents: the bytes of one file of a MemoryFileSystem, sparse.
//
// A map of 4 KiB pages. A copy shares them until one side changes; what was
// never written has no page. Space is counted in sectors of 512 bytes: those
// written, and those below the reserved length, which cost no memory.
// Threads: one. Cost: a copy takes a pointer per page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace nephila {

class MemoryContents {
 public:
  static constexpr uint64_t kSectorBytes = 512;
  static constexpr uint64_t kPageBytes = 4096;

  static uint64_t SectorsOf(uint64_t bytes) {
    return bytes / kSectorBytes + (bytes % kSectorBytes != 0 ? 1 : 0);
  }

  uint64_t size() const { return size_; }
  uint64_t used_sectors() const { return reserved_ + beyond_; }
  bool HasSector(uint64_t i) const;

  // Returns less than the size of `out` only at the end.
  size_t Read(uint64_t offset, std::span<std::byte> out) const;
  void Write(uint64_t offset, std::span<const std::byte> data);
  void Truncate(uint64_t size);
  // Takes all sectors of [0, size) and grows to it.
  void Reserve(uint64_t size);
  // REQUIRES: offset < size().
  void FlipBit(uint64_t offset, unsigned bit);

  // The end of the longest beginning of [begin, end) that `room` more sectors
  // are enough for.
  uint64_t FittingEnd(uint64_t begin, uint64_t end, uint64_t room) const;

  // Makes the pages that [begin, end) touches those of `other`. The rest,
  // size included, must be made to agree by the same kind of call or by
  // ShareShape before anything else.
  void SharePages(const MemoryContents& other, uint64_t begin, uint64_t end);
  void ShareShape(const MemoryContents& other);

  // Makes sector i that of `other`, below `limit` and within the size of both;
  // the rest of it reads as zeros.
  void CopySector(uint64_t i, const MemoryContents& other, uint64_t limit);

 private:
  static constexpr uint64_t kSectorsPerPage = kPageBytes / kSectorBytes;

  struct Page {
    std::array<std::byte, kPageBytes> bytes{};
    std::array<bool, kSectorsPerPage> has_sector{};
  };
  using Pages = std::map<uint64_t, std::shared_ptr<Page>>;

  Page& Edit(uint64_t index);
  void TakeSector(Page& page, uint64_t i);
  void DropSector(Page& page, uint64_t i);
  // Written sectors of a page from sector `first` of the file on.
  static uint64_t Count(const Pages::value_type& page, uint64_t first);

  uint64_t size_ = 0;
  uint64_t reserved_ = 0;  // sectors [0, reserved_) are taken in any case
  uint64_t beyond_ = 0;    // written sectors from reserved_ on
  Pages pages_;            // by number; bytes beyond size_ are zero
};

}  // namespace nephila
