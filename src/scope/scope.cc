#include "scope/scope.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "url/canonicalizer.h"
#include "url/host.h"
#include "url/parser.h"
#include "url/surt.h"
#include "url/url.h"

namespace nephila::scope {
namespace {

using config::ScopeBounds;

bool IsSeed(const item::UrlRecord& record) {
  return (record.flags & item::kFromSeed) != 0;
}

std::string_view BoundsName(ScopeBounds bounds) {
  return config::ChoiceNames(bounds)[static_cast<size_t>(bounds)];
}

url::HostKind KindOf(std::string_view host) {
  if (host.ends_with(']')) return url::HostKind::kIpv6;
  return url::EndsInNumber(host) ? url::HostKind::kIpv4
                                 : url::HostKind::kDomain;
}

Unexpected<Error> Damaged() {
  return Unexpected(Error{ErrorCode::kCorruption,
                          "the manifest's bounds of the scope are damaged"});
}

}  // namespace

std::string_view ScopeDropName(ScopeDrop reason) {
  return kScopeDropNames.at(static_cast<size_t>(reason));
}

Scope::Scope(const config::ScopeSettings& settings,
             const url::PublicSuffixList& suffixes)
    : settings_(settings),
      suffixes_(&suffixes),
      allow_(*PatternSet::Make("", {})),
      deny_(*PatternSet::Make("", {})),
      blocks_(std::make_shared<const BlockSet>()),
      kind_(settings.bounds) {}

Result<Scope> Scope::Make(const config::ScopeSettings& settings,
                          const url::PublicSuffixList& suffixes) {
  Scope scope(settings, suffixes);
  NEPHILA_TRY(scope.allow_, PatternSet::Make("scope.allow", settings.allow));
  NEPHILA_TRY(scope.deny_, PatternSet::Make("scope.deny", settings.deny));
  for (const std::string& text : settings.surt_prefixes) {
    const auto prefix = url::ReadSurtPrefix(text);
    if (!prefix) {
      return Unexpected(
          Error{ErrorCode::kInvalidArgument,
                "scope.surt_prefixes: '" + EscapeForTerminal(text) +
                    "' is no SURT prefix such as (org,example, and no URL"});
    }
    scope.prefixes_.Add(*prefix, 0);
  }
  return scope;
}

void Scope::SetBlocks(std::shared_ptr<const BlockSet> blocks) {
  blocks_ = std::move(blocks);
}

std::string_view Scope::NameOfHost(ScopeBounds bounds,
                                   std::string_view host) const {
  switch (bounds) {
    case ScopeBounds::kSite:
      return url::SiteOf(host, *suffixes_);
    case ScopeBounds::kDomain:
      return url::PayLevelDomain(host, KindOf(host), *suffixes_);
    case ScopeBounds::kHost:
    case ScopeBounds::kPrefix:
    case ScopeBounds::kAll:
      return host;
  }
  return host;
}

std::string_view Scope::NameOf(ScopeBounds bounds,
                               const item::UrlRecord& record) const {
  if (bounds == ScopeBounds::kDomain) return record.pld();
  if (bounds != ScopeBounds::kPrefix) return NameOfHost(bounds, record.host());
  scratch_.clear();
  url::AppendFolderSurt(record.url, record.host_start, record.host_size,
                        scratch_);
  return scratch_;
}

bool Scope::Converts() const {
  return kind_ != settings_.bounds && settings_.bounds != ScopeBounds::kAll;
}

void Scope::Keep(std::string_view name) {
  if (names_.contains(name)) return;
  names_.emplace(name);
  if (kind_ == ScopeBounds::kPrefix) folders_.Add(name, 0);
}

std::optional<ScopeDrop> Scope::TakeSeed(const item::UrlRecord& record) {
  if (const auto reason = RefusesAlways(record)) return reason;
  // A crawl of all has nothing to remember, unless it was another one before.
  if (kind_ != ScopeBounds::kAll) Keep(NameOf(kind_, record));
  if (Converts()) converted_.emplace(NameOf(settings_.bounds, record));
  return Refuses(record);
}

bool Scope::IsWithinBounds(const item::UrlRecord& record) const {
  if (settings_.bounds == ScopeBounds::kAll) return true;
  const bool is_prefix = settings_.bounds == ScopeBounds::kPrefix;
  const Names& names = Converts() ? converted_ : names_;
  if (!is_prefix && names.contains(NameOf(settings_.bounds, record))) {
    return true;
  }
  if (!is_prefix && prefixes_.empty()) return false;
  scratch_.clear();
  url::AppendSurt(record.url, record.host_start, record.host_size, scratch_);
  return (is_prefix && folders_.Find(scratch_)) ||
         prefixes_.Find(scratch_).has_value();
}

std::optional<ScopeDrop> Scope::RefusesAlways(
    const item::UrlRecord& record) const {
  if (!blocks_->empty() && blocks_->Find(record, scratch_)) {
    return ScopeDrop::kBlocked;
  }
  if (!deny_.empty() && deny_.Matches(record.url)) return ScopeDrop::kDenied;
  return std::nullopt;
}

std::optional<ScopeDrop> Scope::Refuses(const item::UrlRecord& record) const {
  if (settings_.max_depth > 0 &&
      record.depth > static_cast<uint64_t>(settings_.max_depth)) {
    return ScopeDrop::kTooDeep;
  }
  if (!IsWithinBounds(record)) return ScopeDrop::kOtherSite;
  if (const auto reason = RefusesAlways(record)) return reason;
  if (!allow_.empty() && !IsSeed(record) && !allow_.Matches(record.url)) {
    return ScopeDrop::kNotAllowed;
  }
  return std::nullopt;
}

std::vector<RuleVerdict> Scope::Explain(const item::UrlRecord& record) const {
  std::vector<RuleVerdict> verdicts;
  const bool deep = settings_.max_depth > 0 &&
                    record.depth > static_cast<uint64_t>(settings_.max_depth);
  verdicts.push_back({"depth", !deep,
                      settings_.max_depth > 0
                          ? std::to_string(record.depth) + " of " +
                                std::to_string(settings_.max_depth)
                          : ""});
  const bool within = IsWithinBounds(record);
  std::string bounds(BoundsName(settings_.bounds));
  if (settings_.bounds != ScopeBounds::kAll) {
    bounds.append(within ? " of a seed: " : " of no seed: ");
    bounds.append(NameOf(settings_.bounds, record));
  }
  verdicts.push_back({"bounds", within, std::move(bounds)});
  const auto block = blocks_->Find(record, scratch_);
  verdicts.push_back({"block", !block, block ? block->ToString() : ""});
  const auto denied = deny_.Find(record.url);
  verdicts.push_back({"deny", !denied, std::string(denied.value_or(""))});
  RuleVerdict allow{"allow", true, ""};
  if (!allow_.empty()) {
    const auto allowed = allow_.Find(record.url);
    allow.passes = allowed.has_value() || IsSeed(record);
    allow.why = allowed          ? std::string(*allowed)
                : IsSeed(record) ? "a seed needs none"
                                 : "no pattern is found";
  }
  verdicts.push_back(std::move(allow));
  return verdicts;
}

void Scope::Write(ByteWriter& writer) const {
  std::vector<std::string_view> names(names_.begin(), names_.end());
  std::sort(names.begin(), names.end());
  writer.U8(static_cast<uint8_t>(kind_));
  writer.Varint(names.size());
  for (const std::string_view name : names) writer.Sized(name);
}

// From a finer kind to the one of now: a folder has a host, a host a site, a
// site a domain.
Status Scope::Convert(std::string_view name) {
  std::string host(name);
  if (kind_ == ScopeBounds::kPrefix) {
    const auto found = url::HostOfSurt(name);
    if (!found) return Damaged();
    host = *found;
  }
  converted_.emplace(NameOfHost(settings_.bounds, host));
  return {};
}

Status Scope::Read(ByteReader& reader) {
  const auto kind = reader.U8();
  const auto count = reader.Varint();
  if (!kind.has_value() || !count.has_value() ||
      *kind > static_cast<uint8_t>(ScopeBounds::kPrefix)) {
    return Damaged();
  }
  // In the order of their numbers they become finer.
  const auto saved = static_cast<ScopeBounds>(*kind);
  if (saved < settings_.bounds) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "scope.bounds: the job was crawled with " +
                  std::string(BoundsName(saved)) + " and does not know what " +
                  std::string(BoundsName(settings_.bounds)) + " would need"});
  }
  kind_ = saved;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto name = reader.Sized();
    if (!name.has_value()) return Damaged();
    Keep(*name);
    if (Converts()) NEPHILA_RETURN_IF_ERROR(Convert(*name));
  }
  return {};
}

}  // namespace nephila::scope
