#include "drum/rule.h"

#include <cstddef>
#include <limits>

#include "base/check.h"

namespace nephila::drum {
namespace {

class KeepRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& /*answer*/) const override {
    if (meeting.found || !Updates(meeting.operation)) return Verdict::kLeave;
    record = meeting.value;
    return Verdict::kWrite;
  }
};

class OverwriteRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& /*answer*/) const override {
    if (!Updates(meeting.operation)) return Verdict::kLeave;
    record = meeting.value;
    return Verdict::kWrite;
  }
};

uint64_t Number(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

class AddRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& /*answer*/) const override {
    if (!Updates(meeting.operation)) return Verdict::kLeave;
    const size_t size = meeting.value.size();
    NEPHILA_CHECK(size == 1 || size == 2 || size == 4 || size == 8);
    uint64_t most = std::numeric_limits<uint64_t>::max();
    if (size < 8) most = (uint64_t{1} << (8 * size)) - 1;
    const uint64_t stored = meeting.found ? Number(record) : 0;
    const uint64_t added = Number(meeting.value);
    uint64_t sum = added > most - stored ? most : stored + added;
    record.resize(size);
    for (char& byte : record) {
      byte = static_cast<char>(sum & 0xFF);
      sum >>= 8;
    }
    return Verdict::kWrite;
  }
};

}  // namespace

std::shared_ptr<const MergeRule> MakeKeepRule() {
  return std::make_shared<KeepRule>();
}

std::shared_ptr<const MergeRule> MakeOverwriteRule() {
  return std::make_shared<OverwriteRule>();
}

std::shared_ptr<const MergeRule> MakeAddRule() {
  return std::make_shared<AddRule>();
}

}  // namespace nephila::drum
