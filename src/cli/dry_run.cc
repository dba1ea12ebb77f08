#include "cli/dry_run.h"

#include <fmt/core.h>

#include <fstream>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "caps/caps.h"
#include "cli/lines.h"
#include "item/url_record.h"
#include "job/job_folder.h"
#include "scope/block_files.h"
#include "scope/scope.h"
#include "seen/extension_filter.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::cli {
namespace {

using config::ExternalLinks;
using scope::RuleVerdict;

// Of an input that nobody could want whole.
constexpr size_t kLongestShown = size_t{1} << 20;

struct Judged {
  std::string_view input;
  std::string url;  // canonical; "" if there is none
  std::vector<RuleVerdict> rules;
  std::string reason;  // "" if it would be crawled
};

// The lines of a file, or of the input, that are neither empty nor comments.
Status ForEachUrl(const std::string& option, const std::string& path,
                  std::istream& in,
                  const std::function<void(std::string_view url)>& take) {
  const auto trimmed = [&take](const std::string& line) {
    const std::string_view url = TrimSpaces(line);
    if (!url.empty() && !url.starts_with('#')) take(url);
  };
  if (path == "-") return ForEachLine(in, trimmed);
  std::ifstream file(path);
  if (!file) {
    return Unexpected(
        Error{ErrorCode::kNotFound,
              option + " " + EscapeForTerminal(path) + ": cannot be read"});
  }
  return ForEachLine(file, trimmed);
}

class Judge {
 public:
  Judge(const Setup& setup, scope::Scope scope)
      : settings_(setup.settings),
        scope_(std::move(scope)),
        extensions_(setup.settings.seen.skip_extensions),
        // Keys outside a job have the seed 0.
        canonicalizer_(setup.settings.url, setup.suffixes, 0) {}

  // What the bounds are made of.
  void TakeSeed(std::string_view url) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    if (!canonical) return;
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.flags = item::kFromSeed;
    scope_.TakeSeed(record);
  }

  Judged Try(std::string_view input, bool is_seed) {
    Judged judged;
    judged.input = input;
    const auto canonical = canonicalizer_.Canonicalize(input, nullptr);
    if (!canonical) {
      judged.reason = url::DropReasonName(canonical.error());
      judged.rules.push_back({"url", false, judged.reason});
      return judged;
    }
    judged.url = canonical->href;
    judged.rules.push_back({"url", true, ""});
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.flags = is_seed ? item::kFromSeed : 0;
    for (RuleVerdict& verdict : scope_.Explain(record)) {
      if (verdict.rule == "depth" && !is_seed &&
          settings_.scope.max_depth > 0) {
        verdict.why = "not known here";
      }
      judged.rules.push_back(std::move(verdict));
    }
    // A seed that is denied has widened nothing: that is not why.
    auto reason = scope_.Refuses(record);
    if (is_seed && scope_.RefusesAlways(record)) {
      reason = scope_.RefusesAlways(record);
    }
    if (reason) judged.reason = scope::ScopeDropName(*reason);
    AddExtension(record, is_seed, &judged);
    AddExternal(record, is_seed, &judged);
    AddCaps(is_seed, &judged);
    return judged;
  }

 private:
  void AddExtension(const item::UrlRecord& record, bool is_seed,
                    Judged* judged) const {
    const bool skips = !is_seed && extensions_.Skips(record);
    judged->rules.push_back(
        {"extension", !skips, skips ? "seen.skip_extensions" : ""});
    if (skips && judged->reason.empty()) judged->reason = "extension";
  }

  // Where the link stands is not known here.
  void AddExternal(const item::UrlRecord& record, bool is_seed,
                   Judged* judged) const {
    const ExternalLinks policy = settings_.scope.external_links;
    std::string why;
    if (policy != ExternalLinks::kDeep && !is_seed) {
      const size_t end =
          record.url.find('/', record.host_start + record.host_size);
      why = policy == ExternalLinks::kHomePage ? "from another host: "
                                               : "from another host also: ";
      why.append(record.url.substr(0, end)).append("/");
    }
    judged->rules.push_back({"external_links", true, std::move(why)});
  }

  void AddCaps(bool is_seed, Judged* judged) const {
    if (!caps::Caps::AreSet(settings_.scope)) return;
    judged->rules.push_back({"caps", true,
                             is_seed ? "a seed is never refused"
                                     : "what others use up is not known here"});
  }

  const config::Settings& settings_;
  scope::Scope scope_;
  const seen::ExtensionFilter extensions_;
  url::Canonicalizer canonicalizer_;
};

void PrintJson(const Judged& judged, std::ostream& out) {
  nlohmann::ordered_json line;
  line["input"] = judged.input.substr(0, kLongestShown);
  if (!judged.url.empty()) line["url"] = judged.url;
  line["verdict"] = judged.reason.empty() ? "crawl" : "drop";
  if (!judged.reason.empty()) line["reason"] = judged.reason;
  nlohmann::ordered_json rules = nlohmann::ordered_json::array();
  for (const RuleVerdict& rule : judged.rules) {
    nlohmann::ordered_json one;
    one["rule"] = rule.rule;
    one["passes"] = rule.passes;
    if (!rule.why.empty()) one["why"] = rule.why;
    rules.push_back(std::move(one));
  }
  line["rules"] = std::move(rules);
  // Input that is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
  out << line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace)
      << '\n';
}

void PrintForPeople(const Judged& judged, std::ostream& out) {
  const std::string verdict =
      judged.reason.empty() ? "crawl" : "drop (" + judged.reason + ")";
  out << fmt::format("{}: {}\n",
                     EscapeForTerminal(judged.input.substr(0, kLongestShown)),
                     verdict);
  if (!judged.url.empty() && judged.url != judged.input) {
    out << fmt::format("  is {}\n", EscapeForTerminal(judged.url));
  }
  for (const RuleVerdict& rule : judged.rules) {
    if (rule.passes && rule.why.empty()) continue;
    out << fmt::format("  {} {}: {}\n", rule.passes ? "+" : "-", rule.rule,
                       EscapeForTerminal(rule.why));
  }
}

}  // namespace

Status RunDryRun(const Setup& setup, const CrawlCmdOptions& options,
                 bool for_people, std::istream& in, std::ostream& out,
                 std::ostream& err) {
  auto fs = MakeGuardedFileSystem(options.job);
  scope::BlockFiles::Parts parts{
      *fs, setup.settings, setup.suffixes, "",
      [&err](std::string_view line) { err << "nephila: " << line << '\n'; }};
  if (!options.job.empty()) {
    parts.own_file = options.job + "/" + std::string(job::kBlockedFile);
  }
  NEPHILA_TRY(const auto blocks, scope::BlockFiles::Open(parts));
  NEPHILA_TRY(scope::Scope scope,
              scope::Scope::Make(setup.settings.scope, setup.suffixes));
  scope.SetBlocks(blocks->lists());
  Judge judge(setup, std::move(scope));

  std::vector<std::string> seeds = options.seeds;
  seeds.insert(seeds.end(), options.sitemaps.begin(), options.sitemaps.end());
  for (const std::string& path : options.seed_files) {
    NEPHILA_RETURN_IF_ERROR(ForEachUrl(
        "--seeds", path, in,
        [&seeds](std::string_view url) { seeds.emplace_back(url); }));
  }
  for (const std::string& seed : seeds) judge.TakeSeed(seed);
  const auto print = [&](std::string_view url, bool is_seed) {
    const Judged judged = judge.Try(url, is_seed);
    if (for_people) {
      PrintForPeople(judged, out);
    } else {
      PrintJson(judged, out);
    }
  };
  if (options.tries.empty()) {
    for (const std::string& seed : seeds) print(seed, /*is_seed=*/true);
  }
  for (const std::string& path : options.tries) {
    NEPHILA_RETURN_IF_ERROR(ForEachUrl(
        "--try", path, in,
        [&print](std::string_view url) { print(url, /*is_seed=*/false); }));
  }
  return {};
}

}  // namespace nephila::cli
