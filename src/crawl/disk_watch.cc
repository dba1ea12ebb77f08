#include "crawl/disk_watch.h"

#include <algorithm>

#include "base/text.h"

namespace nephila::crawl {
namespace {

using std::chrono::seconds;

constexpr seconds kLookInterval{1};
constexpr seconds kTrialTime{1};
// From one trial to the next: a pass that is cut off each time costs the disk
// what a whole one does.
constexpr seconds kFirstWait{1};
constexpr seconds kLongestWait{15};
// So much more free is worth a trial at once.
constexpr uint64_t kWorthATrial = uint64_t{1} << 20;

}  // namespace

DiskWatch::DiskWatch(const Parts& parts)
    : parts_(parts), next_look_(parts.clock.Now()) {
  places_.push_back({parts.job});
  for (const std::string& folder : parts.archives) {
    places_.push_back({folder});
  }
}

void DiskWatch::Judge(Place* place) const {
  const uint64_t floor = parts_.settings.floor_bytes;
  const uint64_t enough =
      place->is_low ? floor + parts_.settings.margin_bytes : floor;
  place->is_low = floor > 0 && place->free < enough;
}

Status DiskWatch::Look(bool on_reserve) {
  const MonoTime now = parts_.clock.Now();
  if (now < next_look_) return {};
  next_look_ = now + kLookInterval;
  is_on_reserve_ = on_reserve;
  for (Place& place : places_) {
    NEPHILA_TRY(place.free, parts_.fs.FreeSpace(place.folder));
    Judge(&place);
  }
  const auto is_low = [](const Place& place) { return place.is_low; };
  is_low_ = places_.front().is_low ||
            (places_.size() > 1 &&
             std::all_of(places_.begin() + 1, places_.end(), is_low));
  BeginTrialIfDue(now);
  return {};
}

void DiskWatch::BeginTrialIfDue(MonoTime now) {
  if (!refused_) return;
  if (is_trial_) {
    if (now < trial_at_) return;
    refused_.reset();
    is_trial_ = false;
    return;
  }
  const bool has_more =
      std::any_of(places_.begin(), places_.end(), [](const Place& place) {
        return place.free >= place.free_at_refusal + kWorthATrial;
      });
  if (now < trial_at_ && !has_more) return;
  is_trial_ = true;
  ++trials_;
  trial_at_ = now + kTrialTime;
}

void DiskWatch::Refused(const Error& error) {
  // Others who were refused at the same time.
  if (is_refused()) return;
  wait_ = refused_ ? std::min(2 * wait_, kLongestWait) : kFirstWait;
  refused_ = error;
  is_trial_ = false;
  trial_at_ = parts_.clock.Now() + wait_;
  for (Place& place : places_) {
    // As it is after what was refused; a file system that cannot say so now
    // says so at the next look.
    place.free_at_refusal =
        parts_.fs.FreeSpace(place.folder).value_or(place.free);
  }
}

std::string DiskWatch::Text() const {
  if (!is_waiting()) return "";
  if (refused_) {
    return "disk: no room (" + EscapeForTerminal(refused_->message) +
           "); waiting";
  }
  if (!is_low_) {
    return "disk: " + HumanSize(places_.front().free) +
           " free, too little for the reserve of the journal; waiting";
  }
  const auto low =
      std::find_if(places_.begin(), places_.end(),
                   [](const Place& place) { return place.is_low; });
  const std::string floor = HumanSize(parts_.settings.floor_bytes);
  std::string text = "disk: " + HumanSize(low->free) + " free";
  if (low->free < parts_.settings.floor_bytes) {
    text += ", below disk.floor of " + floor;
  } else {
    text += ", not yet disk.floor of " + floor + " and " +
            HumanSize(parts_.settings.margin_bytes) + " more";
  }
  return text + "; waiting";
}

}  // namespace nephila::crawl
