// KeyBatch: some thousand links, for stores that answer many keys at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nephila::bench {

class KeyBatch {
 public:
  struct Item {
    uint64_t key;
    uint32_t begin;
    uint32_t size;
  };

  void Add(uint64_t key, std::string_view text);
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }

  // Sorted by key, each key once, with the text that came first.
  const std::vector<Item>& Distinct();
  std::string_view TextOf(const Item& item) const {
    return std::string_view(text_).substr(item.begin, item.size);
  }
  void Clear();

 private:
  std::vector<Item> items_;
  std::string text_;
};

}  // namespace nephila::bench
