// The frontier on disk: its stages made, opened and committed.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "crawl/frontier.h"
#include "crawl/frontier_state.h"
#include "crawl/memory_plan.h"

namespace nephila::crawl {
namespace {

Result<std::string_view> Part(const ManifestParts& manifest,
                              std::string_view name) {
  const auto part = manifest.find(name);
  if (part == manifest.end()) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "the manifest has no part " + std::string(name)});
  }
  return std::string_view(part->second);
}

Unexpected<Error> NoState() {
  return Unexpected(Error{ErrorCode::kCorruption,
                          "the manifest's state of the frontier is damaged"});
}

}  // namespace

drum::DrumContext Frontier::Context() const {
  return {parts_.fs, parts_.clock, parts_.workers};
}

Result<std::unique_ptr<Frontier>> Frontier::Create(const Parts& parts) {
  NEPHILA_TRY(scope::Scope scope,
              scope::Scope::Make(parts.settings.scope, parts.suffixes));
  std::unique_ptr<Frontier> frontier(new Frontier(parts, std::move(scope)));
  NEPHILA_RETURN_IF_ERROR(frontier->MakeStages(nullptr));
  return frontier;
}

Result<std::unique_ptr<Frontier>> Frontier::Open(
    const Parts& parts, const ManifestParts& manifest) {
  NEPHILA_TRY(scope::Scope scope,
              scope::Scope::Make(parts.settings.scope, parts.suffixes));
  std::unique_ptr<Frontier> frontier(new Frontier(parts, std::move(scope)));
  NEPHILA_RETURN_IF_ERROR(frontier->MakeStages(&manifest));
  NEPHILA_TRY(const std::string_view state, Part(manifest, "frontier"));
  NEPHILA_RETURN_IF_ERROR(frontier->RestoreState(state));
  const auto retries = manifest.find("retries");
  if (retries != manifest.end() && !frontier->RestoreRetries(retries->second)) {
    return NoState();
  }
  return frontier;
}

Result<uint64_t> Frontier::NextEntry(const ManifestParts& manifest) {
  NEPHILA_TRY(const std::string_view state, Part(manifest, "frontier"));
  ByteReader reader(state);
  const auto version = reader.U8();
  if (version.has_value() && *version != kFrontierStateVersion &&
      *version != kOldFrontierStateVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            "the job's state of the frontier has version " +
                                std::to_string(*version) +
                                ", this nephila has version " +
                                std::to_string(kFrontierStateVersion)});
  }
  const auto entry = reader.Varint();
  if (!entry.has_value()) return NoState();
  return *entry;
}

Status Frontier::MakeStages(const ManifestParts* manifest) {
  const MemoryPlan& plan = plan_;
  const drum::DrumContext context = Context();
  seen::SeenOptions seen;
  seen.settings = parts_.settings.seen;
  seen.seed = parts_.seed;
  seen.memory_bytes = plan.seen;
  seen.disk_bytes = plan.seen_disk;
  seen.host_delay_s = Seconds(parts_.settings.politeness.host_delay);
  const std::string seen_dir = parts_.folder + "/seen";
  if (manifest == nullptr) {
    NEPHILA_TRY(seen_, seen::Seen::Create(context, seen_dir, seen));
  } else {
    NEPHILA_TRY(const std::string_view commit, Part(*manifest, "seen"));
    NEPHILA_TRY(seen_, seen::Seen::Open(context, seen_dir, seen, commit));
  }
  NEPHILA_RETURN_IF_ERROR(MakeCaps(context, manifest));
  NEPHILA_RETURN_IF_ERROR(MakeBudgets(context, manifest));

  robots::RobotsStageOptions robots;
  robots.settings = parts_.settings.robots;
  robots.seed = parts_.seed;
  robots.suffixes = &parts_.suffixes;
  robots.memory_bytes = plan.robots;
  robots.disk_bytes = plan.robots_disk;
  robots.max_redirects =
      static_cast<uint64_t>(parts_.settings.fetch.robots_redirects);
  robots.max_ports_per_host =
      static_cast<uint64_t>(parts_.settings.robots.max_ports_per_host);
  robots.max_waiting_sites =
      static_cast<uint64_t>(parts_.settings.robots.max_waiting_sites);
  robots.max_requests = MaxRobotsRequests(parts_.settings, plan);
  robots.max_early_ends = plan.robots_early_ends;
  const std::string robots_dir = parts_.folder + "/robots";
  disk_queue::QueueSetOptions queues;
  queues.memory_bytes = plan.ready;
  const std::string queue_dir = parts_.folder + "/ready";
  if (manifest == nullptr) {
    NEPHILA_TRY(robots_,
                robots::RobotsStage::Create(context, robots_dir, robots));
    NEPHILA_TRY(queues_,
                disk_queue::QueueSet::Create(parts_.fs, queue_dir, queues));
    return {};
  }
  NEPHILA_TRY(const std::string_view commit, Part(*manifest, "robots"));
  NEPHILA_TRY(robots_,
              robots::RobotsStage::Open(context, robots_dir, robots, commit));
  NEPHILA_TRY(const std::string_view ready, Part(*manifest, "ready"));
  ByteReader reader(ready);
  const auto generation = reader.Varint();
  if (!generation.has_value()) return NoState();
  NEPHILA_TRY(queues_, disk_queue::QueueSet::Open(parts_.fs, queue_dir, queues,
                                                  *generation));
  return {};
}

Status Frontier::MakeCaps(const drum::DrumContext& context,
                          const ManifestParts* manifest) {
  if (!caps::Caps::AreSet(parts_.settings.scope)) return {};
  const MemoryPlan& plan = plan_;
  caps::CapsOptions options;
  options.settings = parts_.settings.scope;
  options.seed = parts_.seed;
  options.memory_bytes = plan.caps;
  options.disk_bytes = plan.caps_disk;
  const std::string dir = parts_.folder + "/caps";
  if (manifest == nullptr) {
    NEPHILA_RETURN_IF_ERROR(EnsureDir(parts_.fs, dir));
    NEPHILA_TRY(caps_, caps::Caps::Create(context, dir, options));
    return {};
  }
  NEPHILA_TRY(const std::string_view commit, Part(*manifest, "caps"));
  NEPHILA_TRY(caps_, caps::Caps::Open(context, dir, options, commit));
  return {};
}

Status Frontier::MakeBudgets(const drum::DrumContext& context,
                             const ManifestParts* manifest) {
  if (!parts_.settings.crawl.budgets) {
    pass_through_ = std::make_unique<budget::PassThrough>(
        static_cast<uint64_t>(parts_.settings.reputation.base));
    if (manifest == nullptr) return {};
    NEPHILA_TRY(const std::string_view saved, Part(*manifest, "budget"));
    if (!pass_through_->Restore(saved)) return NoState();
    return {};
  }
  const MemoryPlan& plan = plan_;
  reputation::ReputationOptions reputation;
  reputation.settings = parts_.settings.reputation;
  reputation.seed = parts_.seed;
  reputation.memory_bytes = plan.reputation;
  reputation.disk_bytes = plan.reputation_disk;
  const std::string reputation_dir = parts_.folder + "/reputation";
  budget::BudgetOptions budget;
  budget.settings = parts_.settings.budget;
  budget.seed = parts_.seed;
  budget.drum_memory_bytes = plan.budget_drum;
  budget.drum_disk_bytes = plan.budget_disk;
  budget.queue_memory_bytes = plan.budget_queues;
  budget.host_delay = parts_.settings.politeness.host_delay;
  budget.host_delay_floor = parts_.settings.politeness.host_delay_floor;
  budget.function = [this] { return reputation_->MakeFunction(); };
  budget.degree_changed = [this](uint64_t before, uint64_t after) {
    reputation_->DegreeChanged(before, after);
  };
  budget.may_leave = [this] { return fresh_links_->AreIn(); };
  const std::string budget_dir = parts_.folder + "/budget";
  if (manifest == nullptr) {
    NEPHILA_TRY(reputation_, reputation::Reputation::Create(
                                 context, reputation_dir, reputation));
    NEPHILA_TRY(budget_, budget::Budget::Create(context, budget_dir, budget));
    fresh_links_.emplace(*seen_, caps_.get(), *reputation_, *budget_);
    return {};
  }
  NEPHILA_TRY(std::string_view commit, Part(*manifest, "reputation"));
  NEPHILA_TRY(reputation_, reputation::Reputation::Open(context, reputation_dir,
                                                        reputation, commit));
  NEPHILA_TRY(commit, Part(*manifest, "budget"));
  NEPHILA_TRY(budget_,
              budget::Budget::Open(context, budget_dir, budget, commit));
  fresh_links_.emplace(*seen_, caps_.get(), *reputation_, *budget_);
  return {};
}

Result<ManifestParts> Frontier::BeginCheckpoint() {
  // A stage whose commit is begun is not asked again.
  const auto note = [this](std::string_view name, auto& stage) -> Status {
    if (noted_.contains(name)) return {};
    NEPHILA_TRY(noted_[std::string(name)], stage.BeginCommit());
    return {};
  };
  NEPHILA_RETURN_IF_ERROR(note("seen", *seen_));
  if (caps_ != nullptr) NEPHILA_RETURN_IF_ERROR(note("caps", *caps_));
  if (budget_ != nullptr) {
    NEPHILA_RETURN_IF_ERROR(note("reputation", *reputation_));
    NEPHILA_RETURN_IF_ERROR(note("budget", *budget_));
  } else {
    noted_["budget"] = pass_through_->Save();
  }
  NEPHILA_RETURN_IF_ERROR(note("robots", *robots_));
  NEPHILA_TRY(const uint64_t generation, queues_->BeginCommit());
  ByteWriter(noted_["ready"]).Varint(generation);
  noted_["frontier"] = SaveState();
  if (!retries_.empty()) noted_["retries"] = SaveRetries();
  return std::exchange(noted_, {});
}

Status Frontier::FinishCheckpoint() {
  size_t stage = 0;
  const auto finish = [&](auto* of) -> Status {
    if (of == nullptr || stage++ < finished_) return {};
    NEPHILA_RETURN_IF_ERROR(of->FinishCommit());
    ++finished_;
    return {};
  };
  NEPHILA_RETURN_IF_ERROR(finish(seen_.get()));
  NEPHILA_RETURN_IF_ERROR(finish(caps_.get()));
  NEPHILA_RETURN_IF_ERROR(finish(reputation_.get()));
  NEPHILA_RETURN_IF_ERROR(finish(budget_.get()));
  NEPHILA_RETURN_IF_ERROR(finish(robots_.get()));
  NEPHILA_RETURN_IF_ERROR(finish(queues_.get()));
  finished_ = 0;
  return {};
}

std::string Frontier::SaveState() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kFrontierStateVersion);
  writer.Varint(next_entry_);
  writer.U8(progress_.begun ? 1 : 0);
  writer.Varint(progress_.link);
  writer.Varint(progress_.edges);
  places_.Write(writer);
  ended_attempts_.Write(writer);
  writer.Varint(to_robots_.size());
  for (const ToRobots& url : to_robots_) {
    writer.Varint(url.budget);
    writer.Sized(url.record);
  }
  scope_.Write(writer);
  accounts_.Write(writer);
  return bytes;
}

Status Frontier::RestoreState(std::string_view bytes) {
  ByteReader reader(bytes);
  FrontierState state;
  if (!state.Read(reader)) return NoState();
  next_entry_ = state.next_entry;
  progress_ = {state.begun, state.links, state.edges};
  places_ = std::move(state.places);
  ended_attempts_.TakeAll(state.ended_attempts);
  to_robots_.assign(std::make_move_iterator(state.to_robots.begin()),
                    std::make_move_iterator(state.to_robots.end()));
  NEPHILA_RETURN_IF_ERROR(scope_.Read(reader));
  if (!accounts_.Read(reader)) return NoState();
  if (!reader.AtEnd() || places_.low() != queues_->NextRead(kReadyQueue)) {
    return NoState();
  }
  for (const uint64_t queue : queues_->Queues()) {
    if (queue == kReadyQueue || queue == kFailedQueue) continue;
    due_slots_.insert(SlotOfQueue(queue));
    parked_ += queues_->Kept(queue);
  }
  return ResumeWalks(state);
}

// A job of an older version has walks beside its stages.
Status Frontier::ResumeWalks(const FrontierState& state) {
  for (const auto& [origin, redirects] : state.walks) {
    if (redirects.empty()) continue;
    robots::RobotsRedirect redirect;
    redirect.origin = origin;
    redirect.next = redirects.back();
    redirect.when = parts_.clock.WallNow();
    redirect.hops = redirects.size();
    NEPHILA_RETURN_IF_ERROR(robots_->RobotsRedirected(redirect));
  }
  return {};
}

}  // namespace nephila::crawl
