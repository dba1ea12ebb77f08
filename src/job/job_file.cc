#include "job/job_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "config/load.h"
#include "config/table.h"

namespace nephila::job {
namespace {

using config::Row;

constexpr std::string_view kBegin =
    "# A crawl of nephila: what was fixed when it was made. Do not edit.\n";
constexpr std::string_view kFormatKey = "format = ";
constexpr std::string_view kChecksum = "# crc32c ";
constexpr size_t kHexDigits32 = 8;
constexpr std::string_view kSuffixListSetting = "url.public_suffix_list";
constexpr std::string_view kProfiles[] = {"broad", "site"};

// The rows of settings take a Settings*, the others a Toml*: one pointer is
// both.
struct Toml {
  config::Settings settings;
  int64_t format = 0;
  std::string key_seed;
  std::string made;
  std::string version;
  std::string profile;
  std::string suffix_list_crc;
  int64_t suffix_list_bytes = 0;
};
static_assert(std::is_standard_layout_v<Toml>);

bool IsFixed(const Row& row) {
  return row.change == config::Change::kFixedPerJob &&
         row.name != kSuffixListSetting;
}

template <typename Access>
Row Own(std::string_view name, Access access) {
  return config::MakeRow<Toml>(name, access, {}, config::Change::kFixedPerJob,
                               "");
}

std::vector<Row> OwnRows() {
  return {
      Own(
          "format", [](auto& toml) -> auto& { return toml.format; }),
      Own(
          "job.key_seed", [](auto& toml) -> auto& { return toml.key_seed; }),
      Own(
          "job.made", [](auto& toml) -> auto& { return toml.made; }),
      Own(
          "job.version", [](auto& toml) -> auto& { return toml.version; }),
      Own(
          "job.profile", [](auto& toml) -> auto& { return toml.profile; }),
      Own(
          "job.suffix_list_crc",
          [](auto& toml) -> auto& { return toml.suffix_list_crc; }),
      Own(
          "job.suffix_list_bytes",
          [](auto& toml) -> auto& { return toml.suffix_list_bytes; }),
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = OwnRows();
  for (const Row& row : config::AllRows()) {
    if (IsFixed(row)) rows.push_back(row);
  }
  return rows;
}

std::vector<config::Section> AllSections() {
  std::vector<config::Section> sections = {{"job", ""}};
  const auto& others = config::SettingsTable().sections;
  sections.insert(sections.end(), others.begin(), others.end());
  return sections;
}

template <typename T>
std::optional<T> ReadHex(std::string_view text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (text.size() != 2 * sizeof(T) || error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

// The number behind "format = ", which is the first that is no comment: a
// later format may differ in all that follows.
std::optional<int64_t> ReadFormat(std::string_view text) {
  while (text.starts_with('#')) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  if (!text.starts_with(kFormatKey)) return std::nullopt;
  text.remove_prefix(kFormatKey.size());
  int64_t format = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), format);
  if (error != std::errc() || end == text.data() + text.size() ||
      *end != '\n' || format < 1) {
    return std::nullopt;
  }
  return format;
}

bool ChecksumFits(std::string_view text) {
  const size_t line = kChecksum.size() + kHexDigits32 + 1;
  if (text.size() < line || !text.ends_with('\n')) return false;
  std::string_view end = text.substr(text.size() - line);
  if (!end.starts_with(kChecksum)) return false;
  end.remove_prefix(kChecksum.size());
  end.remove_suffix(1);
  return end ==
         fmt::format("{:08x}", Crc32c(text.substr(0, text.size() - line)));
}

Unexpected<Error> Damaged(std::string_view path, std::string_view what) {
  return Unexpected(Error{ErrorCode::kCorruption,
                          std::string(path) + ": " + std::string(what)});
}

Result<JobFile> FromToml(Toml toml, std::string_view path) {
  const auto seed = ReadHex<uint64_t>(toml.key_seed);
  const auto crc = ReadHex<uint32_t>(toml.suffix_list_crc);
  const auto* const profile =
      std::find(std::begin(kProfiles), std::end(kProfiles), toml.profile);
  if (!seed || !crc || toml.suffix_list_bytes < 0 ||
      profile == std::end(kProfiles)) {
    return Damaged(path, "it makes no sense");
  }
  JobFile file;
  file.key_seed = *seed;
  file.made = std::move(toml.made);
  file.version = std::move(toml.version);
  file.profile = static_cast<config::Profile>(profile - std::begin(kProfiles));
  file.suffix_list_crc = *crc;
  file.suffix_list_bytes = static_cast<uint64_t>(toml.suffix_list_bytes);
  file.fixed = std::move(toml.settings);
  return file;
}

}  // namespace

std::string FormatJobFile(const JobFile& file) {
  Toml toml;
  toml.settings = file.fixed;
  toml.format = kJobFormat;
  toml.key_seed = fmt::format("{:016x}", file.key_seed);
  toml.made = file.made;
  toml.version = file.version;
  toml.profile = kProfiles[static_cast<size_t>(file.profile)];
  toml.suffix_list_crc = fmt::format("{:08x}", file.suffix_list_crc);
  toml.suffix_list_bytes = static_cast<int64_t>(file.suffix_list_bytes);
  std::string out(kBegin);
  std::string_view section;
  for (const Row& row : AllRows()) {
    if (config::SectionOf(row.name) != section) {
      section = config::SectionOf(row.name);
      out += fmt::format("\n[{}]\n", section);
    }
    out += fmt::format("{} = {}\n", config::KeyOf(row.name),
                       config::FormatTomlValue(row, row.get(&toml)));
  }
  return fmt::format("{}{}{:08x}\n", out, kChecksum, Crc32c(out));
}

Result<JobFile> ReadJobFile(std::string_view text, std::string_view path) {
  const auto format = ReadFormat(text);
  if (format && *format > kJobFormat) {
    return Unexpected(Error{
        ErrorCode::kUnsupported,
        fmt::format("{}: format {} of a job is that of a later nephila; this "
                    "one knows up to {}",
                    path, *format, kJobFormat)});
  }
  if (!ChecksumFits(text)) return Damaged(path, "its checksum does not fit");
  if (!format) return Damaged(path, "it does not say its format");
  const std::vector<Row> rows = AllRows();
  const std::vector<config::Section> sections = AllSections();
  Toml toml;
  if (Status read = config::ApplyTomlWith({sections, rows}, text, path, &toml);
      !read) {
    // It is whole, so someone knew a setting that we do not.
    return Unexpected(
        Error{ErrorCode::kUnsupported, std::move(read).error().message});
  }
  return FromToml(std::move(toml), path);
}

void ApplyFixed(const JobFile& file, config::Settings* settings) {
  for (const Row& row : config::AllRows()) {
    if (IsFixed(row)) row.set(settings, row.get(&file.fixed));
  }
}

Status CheckFixed(const JobFile& file, const config::Settings& settings,
                  std::string_view dir) {
  std::string changed;
  for (const Row& row : config::AllRows()) {
    if (!IsFixed(row)) continue;
    const config::Value then = row.get(&file.fixed);
    const config::Value now = row.get(&settings);
    if (then == now) continue;
    if (!changed.empty()) changed += ", ";
    changed +=
        fmt::format("{} is {} and was {}", row.name,
                    config::Printable(config::FormatTomlValue(row, now)),
                    config::Printable(config::FormatTomlValue(row, then)));
  }
  if (changed.empty()) return {};
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{}: {}: keys of the job depend on it, so leave it as it was "
                  "or begin a new job",
                  dir, changed)});
}

}  // namespace nephila::job
