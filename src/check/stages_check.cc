#include "check/stages_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "base/workers.h"
#include "item/stage_commit.h"
#include "job/job_folder.h"
#include "robots/check_rules.h"

namespace nephila::check {
namespace {

// Where a stage has its stores, in the order of the generations in its commit.
struct StageFolders {
  std::string_view name;
  std::vector<std::string_view> drums;
  std::vector<std::string_view> queues;
};

const std::vector<StageFolders>& Folders() {
  static const std::vector<StageFolders> kFolders = {
      {"seen", {"seen"}, {}},
      {"caps", {"caps/hosts", "caps/domains"}, {}},
      {"reputation", {"reputation"}, {}},
      {"budget", {"budget/domains"}, {"budget/queues"}},
      {"robots", {"robots/cache"}, {"robots/queues"}},
      {"ready", {}, {"ready"}}};
  return kFolders;
}

// Without budgets the part `budget` is counters alone.
bool HasBudgets(const job::Manifest& manifest) {
  return manifest.parts.contains("reputation");
}

// Whether a crawl has that stage.
bool Has(const job::Manifest& manifest, std::string_view stage) {
  if (stage == "caps") return manifest.parts.contains(stage);
  const bool with_budgets = stage == "reputation" || stage == "budget";
  return !with_budgets || HasBudgets(manifest);
}

}  // namespace

StagesCheck::StagesCheck(Parts parts, Findings* findings)
    : parts_(std::move(parts)), findings_(*findings) {}

void StagesCheck::Check(const job::Manifest& manifest,
                        const std::string& manifest_path) {
  held_.clear();
  const uint64_t before = findings_.damages();
  for (const StageFolders& stage : Folders()) {
    if (!Has(manifest, stage.name)) continue;
    CheckStage(manifest, manifest_path, stage.name);
  }
  // Counts of stores that are damaged say nothing.
  CheckLaw(manifest, manifest_path, findings_.damages() == before);
  is_newest_ = false;
}

void StagesCheck::CheckStage(const job::Manifest& manifest,
                             const std::string& path, std::string_view stage) {
  const auto& folders = Folders();
  const auto found =
      std::find_if(folders.begin(), folders.end(),
                   [&](const StageFolders& one) { return one.name == stage; });
  const auto part = manifest.parts.find(stage);
  std::optional<std::vector<uint64_t>> generations;
  if (part != manifest.parts.end()) {
    // The ready queue has no commit of its own, only a generation.
    const std::string commit =
        stage == "ready" ? "\1" + part->second : part->second;
    generations = item::ReadGenerations(
        commit, found->drums.size() + found->queues.size());
  }
  if (!generations) {
    held_[std::string(stage)].is_known = false;
    findings_.Report(path, std::nullopt,
                     fmt::format("its part {} cannot be read", stage));
    return;
  }
  std::string text;
  size_t next = 0;
  for (const std::string_view folder : found->drums) {
    text += CheckDrum(stage, fmt::format("{}/{}", parts_.dir, folder),
                      (*generations)[next++]);
  }
  for (const std::string_view folder : found->queues) {
    if (!text.empty()) text += ", ";
    text += CheckQueues(stage, fmt::format("{}/{}", parts_.dir, folder),
                        (*generations)[next++]);
  }
  if (stage == "robots") {
    FrozenFileSystem frozen(parts_.fs);
    const robots::RulesCounts rules = robots::CheckRules(
        frozen, fmt::format("{}/{}", parts_.dir, job::kRobotsDir), part->second,
        findings_.sink(), &files_);
    text += fmt::format(", {} records of sites, {} with long rules",
                        rules.records, rules.in_log);
  }
  const std::string name(stage);
  findings_.EndPart(is_newest_ ? name : name + " before", text);
}

std::string StagesCheck::CheckDrum(std::string_view stage,
                                   const std::string& dir,
                                   uint64_t generation) {
  auto& check = stores_[dir];
  if (check == nullptr) {
    check =
        std::make_unique<drum::StoreCheck>(parts_.fs, dir, findings_.sink());
  }
  Held& held = held_[std::string(stage)];
  const auto counts = check->Check(generation, [&](std::string_view aux) {
    if (!aux.empty()) ++held.urls;
  });
  files_.insert(check->files().begin(), check->files().end());
  if (!counts) {
    held.is_known = false;
    return "unreadable";
  }
  held.results += counts->results;
  return fmt::format("{} runs, {} keys, {} tuples wait, {}", counts->runs,
                     counts->records, counts->tuples, HumanSize(counts->bytes));
}

std::string StagesCheck::CheckQueues(std::string_view stage,
                                     const std::string& dir,
                                     uint64_t generation) {
  auto& check = queues_[dir];
  if (check == nullptr) {
    check = std::make_unique<disk_queue::QueueCheck>(parts_.fs, dir,
                                                     findings_.sink());
  }
  Held& held = held_[std::string(stage)];
  const auto counts = check->Check(generation);
  files_.insert(check->files().begin(), check->files().end());
  if (!counts) {
    held.is_known = false;
    return "unreadable";
  }
  held.queued += counts->records;
  return fmt::format("{} queues, {} records, {}", counts->queues,
                     counts->records, HumanSize(counts->bytes));
}

// The stages are opened on a view that changes nothing, and asked.
void StagesCheck::CheckLaw(const job::Manifest& manifest,
                           const std::string& path, bool are_sound) {
  FrozenFileSystem frozen(parts_.fs);
  Workers workers(0);
  config::Settings settings = parts_.settings;
  settings.crawl.budgets = HasBudgets(manifest);
  const crawl::Frontier::Parts parts{
      frozen,          parts_.clock, workers,        settings,
      parts_.suffixes, parts_.dir,   parts_.key_seed};
  const auto frontier = crawl::Frontier::Open(parts, manifest.parts);
  if (!frontier.has_value()) {
    // A store that is damaged was named above.
    if (are_sound) {
      findings_.Report(path, std::nullopt, frontier.error().message);
    }
    if (is_newest_) findings_.EndPart("accounts", "cannot be opened");
    return;
  }
  // Of the one before only the newer half of what is on disk was read again.
  if (is_newest_) {
    if (are_sound) CheckAccounts(**frontier, path);
    findings_.EndPart("accounts",
                      fmt::format("{} stages: in + made = out + dropped + held",
                                  (*frontier)->StageAccounts().size()));
  }
}

std::map<std::string, int64_t, std::less<>> StagesCheck::CountHeld(
    const crawl::Frontier& frontier) const {
  std::map<std::string, int64_t, std::less<>> counted;
  for (const StageAccount* account : frontier.StageAccounts()) {
    counted[std::string(account->name())] = 0;
  }
  const auto set = [&](const std::string& stage, uint64_t count) {
    const auto held = held_.find(stage);
    if (held == held_.end() || !held->second.is_known) {
      if (stage != "budget" || frontier.budget() != nullptr) {
        counted.erase(stage);
      }
      return;
    }
    counted[stage] = static_cast<int64_t>(count);
  };
  const auto of = [&](std::string_view stage) {
    const auto held = held_.find(stage);
    return held == held_.end() ? Held() : held->second;
  };
  set("seen", of("seen").results + frontier.seen().stats().waiting);
  if (frontier.caps() != nullptr) {
    set("caps", of("caps").results + frontier.caps()->stats().waiting);
  }
  if (frontier.reputation() != nullptr) {
    set("reputation",
        of("reputation").results + frontier.reputation()->stats().waiting);
  }
  // In-degrees go through its Drum too, and have no aux.
  set("budget", of("budget").urls + of("budget").queued);
  const robots::RobotsStats robots = frontier.robots().stats();
  set("robots",
      of("robots").results + robots.waiting + robots.parked + robots.decided);
  counted["politeness"] = frontier.CountHeld();
  return counted;
}

void StagesCheck::CheckAccounts(const crawl::Frontier& frontier,
                                const std::string& path) {
  const auto counted = CountHeld(frontier);
  std::map<std::string_view, StageTotals> totals;
  for (const StageAccount* account : frontier.StageAccounts()) {
    const StageTotals all = account->Totals();
    totals[account->name()] = all;
    const auto held = counted.find(account->name());
    if (held == counted.end()) continue;
    const auto left =
        static_cast<int64_t>(all.in + all.made - all.out - all.DroppedSum());
    if (left == held->second) continue;
    findings_.Report(
        path, std::nullopt,
        fmt::format("stage {}: in {} + made {} - out {} - dropped {} = {}, and "
                    "it holds {}",
                    account->name(), all.in, all.made, all.out,
                    all.DroppedSum(), left, held->second));
  }
  struct Step {
    std::string_view from;
    std::string_view to;
  };
  // What leaves one stage enters the next.
  const bool has_caps = frontier.caps() != nullptr;
  for (const Step& step :
       std::array<Step, 5>{{{"scope", "seen"},
                            {"seen", has_caps ? "caps" : "budget"},
                            {has_caps ? "caps" : "seen", "budget"},
                            {"robots", "politeness"},
                            {"fetch", "store"}}}) {
    if (totals[step.from].out == totals[step.to].in) continue;
    findings_.Report(path, std::nullopt,
                     fmt::format("{} left stage {}, and {} came to {}",
                                 totals[step.from].out, step.from,
                                 totals[step.to].in, step.to));
  }
}

}  // namespace nephila::check
