#include "budget/assignment.h"

#include <algorithm>

#include "base/bytes.h"
#include "item/budget_function.h"

namespace nephila::budget {
namespace {

using std::chrono::nanoseconds;

constexpr uint8_t kParametersVersion = 1;

nanoseconds ReadLength(ByteReader& reader) {
  const auto length = reader.U64();
  return nanoseconds(
      length.has_value() ? static_cast<int64_t>(*length & INT64_MAX) : 0);
}

// The delay of a host scaled down with the budget (thesis ch. VII.1), as
// `politeness` has it.
double ScaledDelay(uint64_t budget, uint64_t base_budget,
                   const PassParameters& parameters) {
  const auto delay = static_cast<double>(parameters.host_delay.count());
  if (budget <= base_budget) return delay;
  const double scaled =
      delay * static_cast<double>(base_budget) / static_cast<double>(budget);
  const auto floor = static_cast<double>(parameters.host_delay_floor.count());
  return std::min(delay, std::max(floor, scaled));
}

// What a tuple asks for.
struct Wish {
  TupleKind kind = TupleKind::kInDegree;
  uint64_t count = 0;
  uint8_t host_mark = 0;
};

std::optional<Wish> ReadWish(std::string_view value) {
  ByteReader reader(value);
  const auto kind = reader.U8();
  if (!kind.has_value() || *kind > 2) return std::nullopt;
  Wish wish;
  wish.kind = static_cast<TupleKind>(*kind);
  if (wish.kind == TupleKind::kInDegree) {
    const auto count = reader.Varint();
    if (!count.has_value()) return std::nullopt;
    wish.count = *count;
  } else {
    const auto mark = reader.U8();
    if (!mark.has_value()) return std::nullopt;
    wish.host_mark = *mark;
  }
  return wish;
}

void AppendAnswer(const Answer& answer, std::string& out) {
  ByteWriter writer(out);
  writer.U8(static_cast<uint8_t>(answer.kind));
  const bool is_url = answer.kind != TupleKind::kInDegree;
  writer.Varint(is_url ? answer.queue : answer.before);
  writer.Varint(is_url ? answer.budget : answer.after);
}

class AssignmentRule final : public drum::MergeRule {
 public:
  drum::Verdict Merge(const drum::Meeting& meeting, std::string& record,
                      std::string& answer) const override {
    const auto wish = ReadWish(meeting.value);
    auto known = meeting.found ? ReadPldRecord(record) : PldRecord();
    answer.clear();
    // Checksums stand before this; a record that is none is begun anew.
    if (!wish.has_value()) return drum::Verdict::kLeave;
    if (!known.has_value()) known.emplace();
    const PldRecord before = *known;
    const Answer given = wish->kind == TupleKind::kInDegree
                             ? Count(*wish, *known)
                             : Place(*wish, meeting.parameters, *known);
    AppendAnswer(given, answer);
    if (*known == before && meeting.found) return drum::Verdict::kLeave;
    record.clear();
    AppendPldRecord(*known, record);
    return drum::Verdict::kWrite;
  }

 private:
  static Answer Count(const Wish& wish, PldRecord& record) {
    Answer answer;
    answer.before = record.in_degree;
    record.in_degree += std::min(wish.count, UINT64_MAX - record.in_degree);
    answer.after = record.in_degree;
    return answer;
  }

  static Answer Place(const Wish& wish, std::string_view parameter_bytes,
                      PldRecord& record) {
    Answer answer;
    answer.kind = wish.kind;
    record.hosts.Add(wish.host_mark);
    const auto parameters = ReadParameters(parameter_bytes);
    if (!parameters.has_value()) return answer;
    const auto function = item::BudgetFunction::Read(parameters->function);
    if (!function.has_value()) return answer;
    answer.budget = function->Budget(record.in_degree);
    const uint64_t share = QueueShare(answer.budget, function->base(),
                                      record.hosts.Estimate(), *parameters);
    answer.queue =
        AssignQueue(wish.kind == TupleKind::kSplitUrl ? parameters->split
                                                      : parameters->window,
                    share, record);
    return answer;
  }
};

}  // namespace

void AppendPldRecord(const PldRecord& record, std::string& out) {
  ByteWriter writer(out);
  writer.Varint(record.in_degree);
  if (record.next_queue == 0 && record.hosts == HostSketch()) return;
  writer.Varint(record.next_queue);
  writer.Varint(record.fill);
  writer.U64(record.hosts.registers());
}

std::optional<PldRecord> ReadPldRecord(std::string_view bytes) {
  ByteReader reader(bytes);
  PldRecord record;
  const auto in_degree = reader.Varint();
  if (!in_degree.has_value()) return std::nullopt;
  record.in_degree = *in_degree;
  if (reader.AtEnd()) return record;
  const auto next_queue = reader.Varint();
  const auto fill = reader.Varint();
  const auto hosts = reader.U64();
  if (!next_queue.has_value() || !fill.has_value() || !hosts.has_value() ||
      !reader.AtEnd()) {
    return std::nullopt;
  }
  record.next_queue = *next_queue;
  record.fill = *fill;
  record.hosts = HostSketch(*hosts);
  return record;
}

std::string EncodeParameters(const PassParameters& parameters) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kParametersVersion);
  writer.U64(parameters.window.first);
  writer.U64(parameters.window.last);
  writer.U64(parameters.split.first);
  writer.U64(parameters.split.last);
  writer.U64(static_cast<uint64_t>(parameters.queue_time.count()));
  writer.U64(static_cast<uint64_t>(parameters.host_delay.count()));
  writer.U64(static_cast<uint64_t>(parameters.host_delay_floor.count()));
  writer.Raw(parameters.function);
  return bytes;
}

std::optional<PassParameters> ReadParameters(std::string_view bytes) {
  constexpr size_t kFixedBytes = 1 + 7 * 8;
  if (bytes.size() < kFixedBytes ||
      static_cast<uint8_t>(bytes[0]) != kParametersVersion) {
    return std::nullopt;
  }
  ByteReader reader(bytes.substr(1));
  PassParameters parameters;
  parameters.window = {*reader.U64(), *reader.U64()};
  parameters.split = {*reader.U64(), *reader.U64()};
  parameters.queue_time = ReadLength(reader);
  parameters.host_delay = ReadLength(reader);
  parameters.host_delay_floor = ReadLength(reader);
  parameters.function = bytes.substr(kFixedBytes);
  return parameters;
}

uint64_t QueueShare(uint64_t budget, uint64_t base_budget, uint64_t hosts,
                    const PassParameters& parameters) {
  uint64_t share = budget;
  const double delay = ScaledDelay(budget, base_budget, parameters);
  if (parameters.queue_time.count() > 0 && delay > 0) {
    const double fetched = static_cast<double>(parameters.queue_time.count()) *
                           static_cast<double>(hosts) / delay;
    // Budgets are 32 bits, so this is no limit and fits.
    share = std::min(share, static_cast<uint64_t>(std::min(fetched, 1e18)));
  }
  return std::max<uint64_t>(share, 1);
}

uint64_t AssignQueue(const Window& window, uint64_t share, PldRecord& record) {
  uint64_t queue = std::max(record.next_queue, window.first);
  uint64_t fill = queue == record.next_queue ? record.fill : 0;
  if (fill >= share) {
    ++queue;
    fill = 0;
  }
  if (queue > window.last) return 0;
  record.next_queue = queue;
  record.fill = fill + 1;
  return queue;
}

std::string InDegreeValue(uint64_t count) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(static_cast<uint8_t>(TupleKind::kInDegree));
  writer.Varint(count);
  return value;
}

std::string UrlValue(TupleKind kind, uint8_t host_mark) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(static_cast<uint8_t>(kind));
  writer.U8(host_mark);
  return value;
}

std::optional<Answer> ReadAnswer(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.U8();
  const auto first = reader.Varint();
  const auto second = reader.Varint();
  if (!kind.has_value() || *kind > 2 || !first.has_value() ||
      !second.has_value() || !reader.AtEnd()) {
    return std::nullopt;
  }
  Answer answer;
  answer.kind = static_cast<TupleKind>(*kind);
  const bool is_url = answer.kind != TupleKind::kInDegree;
  (is_url ? answer.queue : answer.before) = *first;
  (is_url ? answer.budget : answer.after) = *second;
  return answer;
}

std::shared_ptr<const drum::MergeRule> MakeAssignmentRule() {
  return std::make_shared<AssignmentRule>();
}

}  // namespace nephila::budget
