// Any bytes as a record of RobotsCache: they are refused, or become the same
// bytes again; and whatever a record holds, the rule answers a URL, the end of
// a fetch and a note, and leaves a record.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "robots/cache_rule.h"
#include "robots/robots_record.h"

namespace {

using nephila::drum::Meeting;
using nephila::drum::Operation;
using nephila::drum::Verdict;
namespace robots = nephila::robots;

void Meet(std::string_view value, bool is_url, std::string& record) {
  static const auto rule = robots::MakeCacheRule();
  static const std::string pass =
      robots::PassTime(robots::TimeOf(1'700'000'000'000), 2'678'400'000);
  std::string answer;
  const Meeting meeting{is_url ? Operation::kCheckUpdate : Operation::kUpdate,
                        1, value, pass, true};
  const Verdict verdict = rule->Merge(meeting, record, answer);
  NEPHILA_CHECK(verdict == Verdict::kLeave ||
                robots::ReadRobotsRecord(record).has_value());
  NEPHILA_CHECK(!is_url || robots::ReadAnswer(answer).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto record = robots::ReadRobotsRecord(bytes)) {
    std::string again;
    robots::AppendRobotsRecord(*record, again);
    NEPHILA_CHECK(again == bytes);
  }
  static_cast<void>(robots::ReadAnswer(bytes));
  std::string record(bytes);
  Meet(robots::UrlValue("/path", 0), true, record);
  robots::EndChange end;
  end.when = 1'700'000'000'000;
  Meet(robots::EndValue(end), false, record);
  Meet(robots::HostValue({1, 2, 3}), false, record);
  Meet(bytes, false, record);
  return 0;
}
