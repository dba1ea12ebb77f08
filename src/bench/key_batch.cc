#include "bench/key_batch.h"

#include <algorithm>
#include <tuple>

namespace nephila::bench {

void KeyBatch::Add(uint64_t key, std::string_view text) {
  items_.push_back({key, static_cast<uint32_t>(text_.size()),
                    static_cast<uint32_t>(text.size())});
  text_ += text;
}

const std::vector<KeyBatch::Item>& KeyBatch::Distinct() {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return std::tie(a.key, a.begin) < std::tie(b.key, b.begin);
  });
  auto end =
      std::unique(items_.begin(), items_.end(),
                  [](const Item& a, const Item& b) { return a.key == b.key; });
  items_.erase(end, items_.end());
  return items_;
}

void KeyBatch::Clear() {
  items_.clear();
  text_.clear();
}

}  // namespace nephila::bench
