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
  static const std::string pass = robots::PassTime(
      robots::TimeOf(1'700'000'000'000), {2'678'400'000, 2, 2});
  std::string answer;
  const Meeting meeting{is_url ? Operation::kCheckUpdate : Operation::kUpdate,
                        1, value, pass, true};
  const Verdict verdict = rule->Merge(meeting, record, answer);
  NEPHILA_CHECK(verdict == Verdict::kLeave ||
                robots::ReadHostRecord(record).has_value());
  NEPHILA_CHECK(!is_url || robots::ReadAnswer(answer).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto record = robots::ReadHostRecord(bytes)) {
    std::string again;
    robots::AppendHostRecord(*record, again);
    const bool is_old = bytes[0] == robots::kOriginRecordVersion;
    NEPHILA_CHECK(is_old || again == bytes);
    NEPHILA_CHECK(robots::ReadHostRecord(again) == record);
  }
  static_cast<void>(robots::ReadAnswer(bytes));
  std::string record(bytes);
  const robots::FileId file = robots::AuthorityFile(80, false);
  Meet(robots::UrlValue(file, "/path", 0), true, record);
  Meet(robots::UrlValue(file + 2, "/path", 0), true, record);
  Meet(robots::WalkValue(file, 0), true, record);
  Meet(robots::WalkValue(robots::kTargetFile | 5, 0), true, record);
  Meet(robots::RedirectValue(robots::kTargetFile | 5, {1, 2, 3, "http://b/"}),
       false, record);
  Meet(robots::DelayValue(file, 4), false, record);
  robots::EndChange end;
  end.when = 1'700'000'000'000;
  Meet(robots::EndValue(file, end), false, record);
  Meet(robots::HostValue(file, {1, 2, 3, 4}), false, record);
  Meet(bytes, false, record);
  return 0;
}
