#include "base/memory_contents.h"

#include <algorithm>

namespace nephila {

bool MemoryContents::HasSector(uint64_t i) const {
  if (i < reserved_) return true;
  const auto it = pages_.find(i / kSectorsPerPage);
  return it != pages_.end() && it->second->has_sector[i % kSectorsPerPage];
}

size_t MemoryContents::Read(uint64_t offset, std::span<std::byte> out) const {
  if (offset >= size_) return 0;
  out = out.first(std::min<uint64_t>(out.size(), size_ - offset));
  std::fill(out.begin(), out.end(), std::byte{0});
  const uint64_t end = offset + out.size();
  for (auto it = pages_.lower_bound(offset / kPageBytes);
       it != pages_.end() && it->first * kPageBytes < end; ++it) {
    const uint64_t base = it->first * kPageBytes;
    const uint64_t from = std::max(offset, base);
    const uint64_t to = std::min(end, base + kPageBytes);
    std::copy_n(it->second->bytes.data() + (from - base), to - from,
                out.data() + (from - offset));
  }
  return out.size();
}

void MemoryContents::Write(uint64_t offset, std::span<const std::byte> data) {
  size_ = std::max(size_, offset + data.size());
  while (!data.empty()) {
    const uint64_t within = offset % kPageBytes;
    const size_t n = std::min<uint64_t>(data.size(), kPageBytes - within);
    Page& page = Edit(offset / kPageBytes);
    std::copy_n(data.data(), n, page.bytes.data() + within);
    for (uint64_t i = offset / kSectorBytes; i < SectorsOf(offset + n); ++i) {
      TakeSector(page, i);
    }
    offset += n;
    data = data.subspan(n);
  }
}

void MemoryContents::Truncate(uint64_t size) {
  if (size < size_) {
    const uint64_t first_gone = (size + kPageBytes - 1) / kPageBytes;
    for (auto it = pages_.lower_bound(first_gone); it != pages_.end();) {
      beyond_ -= Count(*it, reserved_);
      it = pages_.erase(it);
    }
    if (size % kPageBytes != 0 && pages_.contains(size / kPageBytes)) {
      Page& page = Edit(size / kPageBytes);
      std::fill(page.bytes.begin() + static_cast<ptrdiff_t>(size % kPageBytes),
                page.bytes.end(), std::byte{0});
      for (uint64_t i = SectorsOf(size); i < first_gone * kSectorsPerPage; ++i)
        DropSector(page, i);
    }
    reserved_ = std::min(reserved_, SectorsOf(size));
  }
  size_ = size;
}

void MemoryContents::Reserve(uint64_t size) {
  size_ = std::max(size_, size);
  const uint64_t end = SectorsOf(size);
  if (end <= reserved_) return;
  for (auto it = pages_.lower_bound(reserved_ / kSectorsPerPage);
       it != pages_.end() && it->first * kSectorsPerPage < end; ++it) {
    beyond_ -= Count(*it, reserved_) - Count(*it, end);
  }
  reserved_ = end;
}

void MemoryContents::FlipBit(uint64_t offset, unsigned bit) {
  Page& page = Edit(offset / kPageBytes);
  page.bytes[offset % kPageBytes] ^= std::byte{1} << (bit % 8);
  // A flipped zero of a hole has to be somewhere.
  TakeSector(page, offset / kSectorBytes);
}

uint64_t MemoryContents::FittingEnd(uint64_t begin, uint64_t end,
                                    uint64_t room) const {
  uint64_t i = std::max(begin / kSectorBytes, reserved_);
  const uint64_t last = SectorsOf(end);
  for (auto it = pages_.lower_bound(i / kSectorsPerPage); i < last; ++it) {
    // The hole before the page in one step: it may be terabytes.
    const uint64_t hole_end =
        it == pages_.end() ? last : std::min(last, it->first * kSectorsPerPage);
    if (hole_end > i) {
      if (hole_end - i > room)
        return std::max(begin, (i + room) * kSectorBytes);
      room -= hole_end - i;
      i = hole_end;
    }
    if (it == pages_.end()) break;
    for (; i < std::min(last, (it->first + 1) * kSectorsPerPage); ++i) {
      if (it->second->has_sector[i % kSectorsPerPage]) continue;
      if (room == 0) return std::max(begin, i * kSectorBytes);
      --room;
    }
  }
  return end;
}

void MemoryContents::SharePages(const MemoryContents& other, uint64_t begin,
                                uint64_t end) {
  const uint64_t first = begin / kPageBytes;
  const uint64_t last = end / kPageBytes;  // one too many does no harm
  pages_.erase(pages_.lower_bound(first), pages_.upper_bound(last));
  pages_.insert(other.pages_.lower_bound(first),
                other.pages_.upper_bound(last));
}

void MemoryContents::ShareShape(const MemoryContents& other) {
  size_ = other.size_;
  reserved_ = other.reserved_;
  beyond_ = other.beyond_;
}

void MemoryContents::CopySector(uint64_t i, const MemoryContents& other,
                                uint64_t limit) {
  const uint64_t begin = i * kSectorBytes;
  if (begin >= size_) return;
  Page& page = Edit(i / kSectorsPerPage);
  std::byte* const bytes = page.bytes.data() + begin % kPageBytes;
  std::fill_n(bytes, kSectorBytes, std::byte{0});
  DropSector(page, i);
  const uint64_t end = std::min({begin + kSectorBytes, size_, limit});
  if (end <= begin || !other.HasSector(i)) return;
  other.Read(begin, {bytes, end - begin});
  TakeSector(page, i);
}

MemoryContents::Page& MemoryContents::Edit(uint64_t index) {
  std::shared_ptr<Page>& page = pages_[index];
  if (page == nullptr) {
    page = std::make_shared<Page>();
  } else if (page.use_count() > 1) {
    page = std::make_shared<Page>(*page);
  }
  return *page;
}

void MemoryContents::TakeSector(Page& page, uint64_t i) {
  bool& has = page.has_sector[i % kSectorsPerPage];
  if (!has && i >= reserved_) ++beyond_;
  has = true;
}

void MemoryContents::DropSector(Page& page, uint64_t i) {
  bool& has = page.has_sector[i % kSectorsPerPage];
  if (has && i >= reserved_) --beyond_;
  has = false;
}

uint64_t MemoryContents::Count(const Pages::value_type& page, uint64_t first) {
  const uint64_t base = page.first * kSectorsPerPage;
  uint64_t count = 0;
  for (uint64_t i = 0; i < kSectorsPerPage; ++i) {
    if (page.second->has_sector[i] && base + i >= first) ++count;
  }
  return count;
}

}  // namespace nephila
