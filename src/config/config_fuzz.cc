// ApplyToml and ApplySet take any bytes; what they load, FormatToml writes so
// that it loads back to the same settings.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/every_type.h"
#include "config/load.h"

namespace nephila::config {
namespace {

template <typename S>
void Check(const Table& table, std::string_view text) {
  const S defaults;
  S from_toml;
  if (ApplyTomlWith(table, text, "fuzz.toml", &from_toml).has_value()) {
    S loaded;
    const std::string written = FormatTomlWith(table, &from_toml);
    NEPHILA_CHECK(ApplyTomlWith(table, written, "", &loaded).has_value());
    NEPHILA_CHECK(loaded == from_toml);
  } else {
    NEPHILA_CHECK(from_toml == defaults);
  }
  S from_set;
  if (ApplySetWith(table, text, &from_set).has_value()) {
    S loaded;
    const std::string written = FormatTomlWith(table, &from_set);
    NEPHILA_CHECK(ApplyTomlWith(table, written, "", &loaded).has_value());
    NEPHILA_CHECK(loaded == from_set);
  } else {
    NEPHILA_CHECK(from_set == defaults);
  }
}

}  // namespace
}  // namespace nephila::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nephila::config::Check;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check<nephila::config::Settings>(nephila::config::SettingsTable(), text);
  Check<nephila::config::EveryType>(nephila::config::EveryTypeTable(), text);
  return 0;
}
