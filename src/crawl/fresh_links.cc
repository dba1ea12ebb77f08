#include "crawl/fresh_links.h"

namespace nephila::crawl {

Result<bool> FreshLinks::AreIn() {
  if (turn_ == Turn::kNone) {
    NEPHILA_RETURN_IF_ERROR(seen_.BeginFresh());
    NEPHILA_RETURN_IF_ERROR(reputation_.BeginFresh());
    turn_ = Turn::kInFront;
  }
  if (turn_ == Turn::kInFront) {
    if (!seen_.IsFresh() || !reputation_.IsFresh()) return false;
    if (caps_ != nullptr) NEPHILA_RETURN_IF_ERROR(caps_->BeginFresh());
    turn_ = Turn::kCaps;
  }
  if (turn_ == Turn::kCaps) {
    if (caps_ != nullptr) {
      NEPHILA_TRY(const bool is_fresh, caps_->IsFresh());
      if (!is_fresh) return false;
    }
    NEPHILA_RETURN_IF_ERROR(budget_.BeginFresh());
    turn_ = Turn::kBudget;
  }
  if (!budget_.IsFresh()) return false;
  turn_ = Turn::kNone;
  return true;
}

}  // namespace nephila::crawl
