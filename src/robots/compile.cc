#include <algorithm>
#include <tuple>

#include "base/bytes.h"
#include "base/check.h"
#include "base/checksum.h"
#include "robots/rules.h"
#include "robots/rules_format.h"

namespace nephila::robots {
namespace {

// Before it is known whether numbers take 2 or 4 bytes.
struct Tables {
  std::vector<uint32_t> numbers;
  std::string texts;
  uint32_t rules = 0;
  uint32_t nodes = 0;
  uint32_t wilds = 0;
};

uint32_t Bits(const Rule& rule) {
  uint32_t bits = rule.pattern.priority << kPriorityShift;
  if (rule.pattern.dollar) bits |= kDollarBit;
  if (rule.allow) bits |= kAllowBit;
  return bits;
}

// How strong a rule is: by priority, then allow.
std::pair<uint32_t, bool> Strength(const Rule& rule) {
  return {rule.pattern.priority, rule.allow};
}

class Compiler {
 public:
  explicit Compiler(const RobotsFile& file) : file_(file) {
    for (const Rule& rule : file.rules) {
      bool wild = TextOf(rule).find('*') != std::string_view::npos;
      (wild ? wild_ : plain_).push_back(&rule);
    }
  }

  Tables Run() {
    SortWild();
    MakeNodes();
    LinkNodes();
    Tables tables;
    tables.rules = static_cast<uint32_t>(out_rules_.size());
    tables.nodes = static_cast<uint32_t>(nodes_.size());
    tables.wilds = static_cast<uint32_t>(wild_.size());
    tables.numbers.reserve(out_rules_.size() * 3 + nodes_.size() * 4 +
                           wild_.size());
    for (const OutRule& rule : out_rules_) {
      uint32_t text =
          rule.node == Rules::kNone ? tables.nodes + rule.wild : rule.node;
      tables.numbers.insert(tables.numbers.end(),
                            {rule.rule->line, Bits(*rule.rule), text});
    }
    for (const Node& node : nodes_) {
      tables.numbers.insert(tables.numbers.end(),
                            {node.parent, node.best, node.exact});
    }
    AppendTexts(&tables);
    return tables;
  }

 private:
  struct OutRule {
    const Rule* rule;
    uint32_t node = Rules::kNone;  // or
    uint32_t wild = Rules::kNone;
  };
  struct Node {
    std::string_view text;
    uint32_t parent = Rules::kNone;
    uint32_t best = Rules::kNone;  // at first: of the node's own rules
    uint32_t exact = Rules::kNone;
  };

  std::string_view TextOf(const Rule& rule) const { return file_.TextOf(rule); }

  // The strongest first. Of rules that say the same the first in the file.
  void SortWild() {
    auto order = [this](const Rule* a, const Rule* b) {
      return std::make_tuple(Strength(*b), TextOf(*a), a->pattern.dollar,
                             a->line) <
             std::make_tuple(Strength(*a), TextOf(*b), b->pattern.dollar,
                             b->line);
    };
    auto same = [this](const Rule* a, const Rule* b) {
      return Strength(*a) == Strength(*b) && TextOf(*a) == TextOf(*b) &&
             a->pattern.dollar == b->pattern.dollar;
    };
    std::sort(wild_.begin(), wild_.end(), order);
    wild_.erase(std::unique(wild_.begin(), wild_.end(), same), wild_.end());
    for (uint32_t i = 0; i < wild_.size(); ++i) {
      out_rules_.push_back({wild_[i], Rules::kNone, i});
    }
  }

  // One node per text, in the order of texts. Of the rules of one text only
  // the strongest can ever win, one for the exact path and one for all that
  // begin with it.
  void MakeNodes() {
    auto order = [this](const Rule* a, const Rule* b) {
      return std::make_tuple(TextOf(*a), a->pattern.anchored(), Strength(*b),
                             a->line) < std::make_tuple(TextOf(*b),
                                                        b->pattern.anchored(),
                                                        Strength(*a), b->line);
    };
    std::sort(plain_.begin(), plain_.end(), order);
    for (const Rule* rule : plain_) {
      std::string_view text = TextOf(*rule);
      if (nodes_.empty() || nodes_.back().text != text) {
        nodes_.push_back({text});
      }
      Node& node = nodes_.back();
      uint32_t& place = rule->pattern.anchored() ? node.exact : node.best;
      if (place != Rules::kNone) continue;
      place = static_cast<uint32_t>(out_rules_.size());
      out_rules_.push_back({rule, static_cast<uint32_t>(nodes_.size() - 1)});
    }
  }

  // In the order of texts a node's prefixes stand before it, and a stack of
  // those that still are prefixes has the longest on top.
  void LinkNodes() {
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      while (!open.empty() &&
             !node.text.starts_with(nodes_[open.back()].text)) {
        open.pop_back();
      }
      if (!open.empty()) {
        node.parent = open.back();
        node.best = Stronger(node.best, nodes_[open.back()].best);
      }
      open.push_back(i);
    }
  }

  uint32_t Stronger(uint32_t own, uint32_t inherited) const {
    if (own == Rules::kNone || inherited == Rules::kNone) {
      return std::min(own, inherited);
    }
    return Strength(*out_rules_[own].rule) >=
                   Strength(*out_rules_[inherited].rule)
               ? own
               : inherited;
  }

  void AppendTexts(Tables* tables) const {
    auto append = [tables](std::string_view text) {
      tables->texts += text;
      tables->numbers.push_back(static_cast<uint32_t>(tables->texts.size()));
    };
    for (const Node& node : nodes_) append(node.text);
    for (const Rule* rule : wild_) append(TextOf(*rule));
  }

  const RobotsFile& file_;
  std::vector<const Rule*> plain_;
  std::vector<const Rule*> wild_;
  std::vector<OutRule> out_rules_;
  std::vector<Node> nodes_;
};

std::string Write(const Tables& tables, uint32_t delay_ms, uint8_t flags) {
  bool wide = std::any_of(
      tables.numbers.begin(), tables.numbers.end(), [](uint32_t number) {
        return number != Rules::kNone && number >= UINT16_MAX;
      });
  if (wide) flags |= kWideFlag;
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Raw(kRulesMagic);
  writer.U8(kRulesVersion);
  writer.U8(flags);
  writer.U16(0);
  writer.U32(0);  // the checksum
  writer.U32(delay_ms);
  writer.U32(tables.rules);
  writer.U32(tables.nodes);
  writer.U32(tables.wilds);
  writer.U32(static_cast<uint32_t>(tables.texts.size()));
  for (uint32_t number : tables.numbers) {
    if (wide) {
      writer.U32(number);
    } else {
      writer.U16(
          static_cast<uint16_t>(number));  // kNone is the largest of both
    }
  }
  writer.Raw(tables.texts);
  uint32_t checksum =
      Crc32c(std::string_view(bytes).substr(0, kRulesChecksumAt));
  checksum = ExtendCrc32c(checksum,
                          std::string_view(bytes).substr(kRulesChecksumAt + 4));
  std::string field;
  ByteWriter(field).U32(checksum);
  bytes.replace(kRulesChecksumAt, field.size(), field);
  return bytes;
}

}  // namespace

std::string CompileRules(const RobotsFile& file) {
  auto flags =
      static_cast<uint8_t>(static_cast<unsigned>(file.group) << kGroupShift);
  if (file.cut) flags |= kCutFlag;
  uint32_t delay_ms = Rules::kNone;
  if (file.crawl_delay) {
    delay_ms = static_cast<uint32_t>(std::clamp<int64_t>(
        file.crawl_delay->count(), 0, int64_t{Rules::kNone} - 1));
  }
  return Write(Compiler(file).Run(), delay_ms, flags);
}

std::string CompileAllowAll() { return Write({}, Rules::kNone, 0); }

std::string CompileDisallowAll() {
  return Write({}, Rules::kNone, kDisallowAllFlag);
}

}  // namespace nephila::robots
