#include "cli/robots_cmd.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/lines.h"
#include "item/product_token.h"
#include "robots/matcher.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;

// Of an input, or a rule, that nobody could want whole.
constexpr size_t kLongestShown = size_t{1} << 20;
// Deviations that are shown with their lines.
constexpr size_t kFindingsShown = 1000;

Error UsageError(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

// One byte over the limit says that there is more.
Result<std::string> ReadFileStart(const std::string& path, size_t limit) {
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(auto file, fs->Open(path, OpenMode::kRead));
  std::string text(limit + 1, '\0');
  NEPHILA_TRY(size_t size,
              file->Read(0, std::as_writable_bytes(std::span<char>(text))));
  text.resize(size);
  return text;
}

Result<std::string> ReadInputStart(std::istream& in, size_t limit) {
  std::string text(limit + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) {
    return Unexpected(Error{ErrorCode::kIo, "standard input cannot be read"});
  }
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

void PrintLine(const Json& line, std::ostream& out) {
  // What is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json Seconds(std::optional<std::chrono::milliseconds> delay) {
  if (!delay) return nullptr;
  return static_cast<double>(delay->count()) / 1000;
}

std::string_view GroupName(robots::Group group) {
  constexpr std::string_view kNames[] = {"none", "everyone", "own"};
  return kNames[static_cast<size_t>(group)];
}

void PrintCheck(const RobotsOptions& options, const robots::RobotsFile& file,
                std::ostream& out) {
  Json line;
  line["file"] = options.file;
  line["agent"] = item::ProductToken(options.agent);
  line["group"] = GroupName(file.group);
  line["groups"] = file.groups;
  line["lines"] = file.lines;
  line["bytes"] = file.bytes_read;
  line["cut"] = file.cut;
  line["rules"] = file.rules.size();
  line["crawl_delay"] = Seconds(file.crawl_delay);
  line["sitemaps"] = file.sitemaps;
  line["deviations"] = Json::object();
  for (size_t i = 0; i < robots::kDeviationCount; ++i) {
    if (file.deviations[i] == 0) continue;
    line["deviations"][std::string(robots::kDeviationNames[i])] =
        file.deviations[i];
  }
  line["findings"] = Json::array();
  for (const robots::Finding& finding : file.findings) {
    line["findings"].push_back({{"line", finding.line},
                                {"kind", robots::DeviationName(finding.kind)}});
  }
  PrintLine(line, out);
}

class AnswerPrinter {
 public:
  AnswerPrinter(const robots::Rules& rules, std::ostream& out)
      : rules_(rules), out_(out), matcher_(rules) {
    // Only its path is used.
    has_base_ = url::Parse("http://site.invalid/", nullptr, &base_).has_value();
  }

  void Print(std::string_view input) {
    Json line;
    line["url"] = input.substr(0, kLongestShown);
    if (auto parsed = url::Parse(input, has_base_ ? &base_ : nullptr, &url_);
        !parsed) {
      line["failure"] = url::ParseErrorName(parsed.error());
    } else if (!url_.is_http()) {
      line["failure"] = "scheme";
    } else {
      AddAnswer(&line);
    }
    PrintLine(line, out_);
  }

 private:
  void AddAnswer(Json* line) {
    robots::Answer answer = matcher_.Match(robots::MatchedPart(url_));
    (*line)["allowed"] = answer.allowed;
    (*line)["rule"] = nullptr;
    (*line)["line"] = nullptr;
    if (answer.rule != robots::Rules::kNone) {
      (*line)["rule"] = rules_.RuleText(answer.rule).substr(0, kLongestShown);
      (*line)["line"] = answer.line;
    }
    (*line)["crawl_delay"] = Seconds(rules_.crawl_delay());
  }

  const robots::Rules& rules_;
  std::ostream& out_;
  robots::Matcher matcher_;
  url::Url base_;
  bool has_base_ = false;
  url::Url url_;
};

Status CheckOptions(const RobotsOptions& options) {
  if (options.file.empty()) {
    return Unexpected(UsageError("robots: --file is missing"));
  }
  bool reads_urls = options.from_input && !options.check;
  if (options.file == "-" && reads_urls) {
    return Unexpected(UsageError(
        "robots: with --file - the URLs have to be on the command line"));
  }
  bool named =
      options.agent == "*" || !item::ProductToken(options.agent).empty();
  if (!named) {
    return Unexpected(UsageError("--agent " + EscapeForTerminal(options.agent) +
                                 ": begins with no product token"));
  }
  return {};
}

}  // namespace

Status RunRobots(const Setup& setup, const RobotsOptions& options,
                 std::istream& in, std::ostream& out) {
  NEPHILA_RETURN_IF_ERROR(CheckOptions(options));
  robots::RobotsLimits limits(setup.settings.robots);
  limits.max_findings = options.check ? kFindingsShown : 0;
  NEPHILA_TRY(std::string text,
              options.file == "-"
                  ? ReadInputStart(in, limits.max_bytes)
                  : ReadFileStart(options.file, limits.max_bytes));
  robots::RobotsFile file = robots::Parse(text, options.agent, limits);
  if (options.check) PrintCheck(options, file, out);
  std::string bytes = robots::CompileRules(file);
  NEPHILA_TRY(robots::Rules rules, robots::Rules::Open(bytes));
  AnswerPrinter printer(rules, out);
  for (const std::string& url : options.urls) printer.Print(url);
  if (!options.from_input || options.check) return {};
  return ForEachLine(
      in, [&printer](const std::string& line) { printer.Print(line); });
}

}  // namespace nephila::cli
