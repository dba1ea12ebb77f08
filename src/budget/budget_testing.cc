#include "budget/budget_testing.h"

#include <algorithm>

#include "item/budget_function.h"
#include "url/record_keys.h"

namespace nephila::budget {
namespace {

std::string PldText(uint64_t domain) {
  return "domain" + std::to_string(domain) + ".test";
}

}  // namespace

std::string EncodeUrl(const TestUrl& url) {
  const std::string pld = PldText(url.domain);
  const std::string host = "h" + std::to_string(url.host) + "." + pld;
  const std::string text =
      "http://" + host + "/" + std::to_string(url.number) + "/page";
  item::UrlRecord record;
  record.url = text;
  record.host_start = 7;
  record.host_size = static_cast<uint32_t>(host.size());
  record.pld_size = static_cast<uint32_t>(pld.size());
  record.entry = url.domain;
  record.ordinal = url.number;
  record.depth = static_cast<uint32_t>(url.host);
  std::string bytes;
  item::AppendUrlRecord(record, bytes);
  return bytes;
}

TestUrl DecodeUrl(std::string_view bytes) {
  const auto record = item::ReadUrl(bytes);
  if (!record.has_value()) return {UINT64_MAX, UINT64_MAX, UINT64_MAX};
  return {record->entry, record->ordinal, record->depth};
}

url::PldKey PldOf(uint64_t domain) {
  return url::MakeKeys("", "", PldText(domain), kSeed).pld;
}

std::string TestFunction(uint32_t base, uint32_t most) {
  return item::EncodeBudgetFunction(config::BudgetPolicy::kProportional, base,
                                    most, {});
}

BudgetOptions SmallOptions(uint64_t first_queues, uint64_t max_queues) {
  BudgetOptions options;
  options.seed = kSeed;
  options.settings.first_queues = static_cast<int64_t>(first_queues);
  options.settings.max_queues = static_cast<int64_t>(max_queues);
  options.drum_memory_bytes = uint64_t{1} << 20;
  options.drum_disk_bytes = uint64_t{16} << 20;
  options.queue_memory_bytes = uint64_t{1} << 20;
  options.function = [] { return TestFunction(3, 50); };
  return options;
}

void ModelBeast::Meet(const Tuple& tuple) {
  Domain& domain = domains_[tuple.url.domain];
  if (tuple.count > 0) {
    domain.in_degree += tuple.count;
    answers_.push_back({tuple, 0, 0});
    return;
  }
  const uint64_t budget = std::min<uint64_t>(
      std::max<uint64_t>(domain.in_degree, 1) * base_, most_);
  const uint64_t share = std::max<uint64_t>(budget, 1);
  uint64_t first = current_ + 1;
  uint64_t last = current_ + queues_ - 1;
  if (tuple.of_split) {
    first = split_first_;
    last = split_last_;
  }
  Domain next = domain;
  if (next.next_queue < first) {
    next.next_queue = first;
    next.fill = 0;
  }
  if (next.fill >= share) {
    ++next.next_queue;
    next.fill = 0;
  }
  ++next.fill;
  if (next.next_queue > last) {
    answers_.push_back({tuple, 0, budget});
    return;
  }
  domain = next;
  answers_.push_back({tuple, next.next_queue, budget});
}

void ModelBeast::Flush() {
  if (gathering_.empty()) return;
  flush_wanted_ = true;
  if (!pass_is_on_) BeginPass();
}

void ModelBeast::BeginPass() {
  flush_wanted_ = false;
  pass_is_on_ = true;
  pass_begun_at_ = current_;
  for (const Tuple& tuple : gathering_) Meet(tuple);
  gathering_.clear();
}

void ModelBeast::Deliver(size_t count) {
  for (size_t i = 0; i < count && !answers_.empty(); ++i) {
    const Answered& answer = answers_.front();
    if (answer.tuple.of_split) --split_left_;
    if (answer.tuple.count == 0 && answer.queue == 0) {
      failed_.push_back(answer.tuple.url);
    } else if (answer.tuple.count == 0) {
      numbered_[answer.queue].push_back({answer.tuple.url, answer.budget});
    }
    answers_.pop_front();
  }
  if (!answers_.empty()) return;
  pass_is_on_ = false;
  if (flush_wanted_) BeginPass();
}

size_t ModelBeast::SplitStep(size_t count) {
  size_t added = 0;
  while (added < count && !splitting_.empty()) {
    gathering_.push_back({splitting_.front(), true, 0});
    splitting_.pop_front();
    ++split_left_;
    ++added;
  }
  return added;
}

void ModelBeast::EndSplitIfOver() {
  if (!split_is_on_ || !splitting_.empty() || split_left_ > 0) return;
  split_is_on_ = false;
  queues_ = next_queues_;
}

void ModelBeast::Advance() {
  EndSplitIfOver();
  while (numbered_[current_].empty()) {
    EndSplitIfOver();
    if (InQueues() == 0 && InFailed() == 0 && split_left_ == 0) return;
    if (pass_is_on_ && pass_begun_at_ < current_) return;
    if (round_left_ == 1 && !split_is_on_ && !failed_.empty()) {
      split_is_on_ = true;
      splitting_.swap(failed_);
      split_first_ = current_ + queues_;
      split_last_ = current_ + 2 * queues_ - 1;
      next_queues_ = std::max(queues_, std::min(2 * queues_, max_queues_));
      round_left_ = next_queues_ + 1;
    }
    if (split_is_on_ && current_ + 1 >= split_first_) return;
    if (round_left_ == 1) round_left_ = queues_ + 1;
    --round_left_;
    numbered_.erase(current_);
    ++current_;
  }
}

std::vector<ModelBeast::Taken> ModelBeast::Take(size_t count) {
  std::vector<Taken> taken;
  while (taken.size() < count) {
    Advance();
    std::deque<Taken>& queue = numbered_[current_];
    if (queue.empty()) break;
    while (taken.size() < count && !queue.empty()) {
      taken.push_back(queue.front());
      queue.pop_front();
    }
  }
  return taken;
}

uint64_t ModelBeast::InQueues() const {
  uint64_t urls = 0;
  for (const auto& [number, queue] : numbered_) urls += queue.size();
  return urls;
}

uint64_t ModelBeast::InDrum() const {
  uint64_t urls = 0;
  for (const Tuple& tuple : gathering_) urls += tuple.count == 0 ? 1 : 0;
  for (const Answered& answer : answers_) {
    urls += answer.tuple.count == 0 ? 1 : 0;
  }
  return urls;
}

}  // namespace nephila::budget
