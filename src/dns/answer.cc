#include "dns/answer.h"

namespace nephila::dns {

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFound:
      return "found";
    case Outcome::kNoSuchName:
      return "no-such-name";
    case Outcome::kNoAddress:
      return "no-address";
    case Outcome::kServerFailure:
      return "server-failure";
    case Outcome::kServerRefused:
      return "server-refused";
    case Outcome::kTimedOut:
      return "timed-out";
    case Outcome::kBadAnswer:
      return "bad-answer";
    case Outcome::kBadName:
      return "bad-name";
    case Outcome::kAddressesRefused:
      return "addresses-refused";
    case Outcome::kOverloaded:
      return "overloaded";
    case Outcome::kCancelled:
      return "cancelled";
  }
  return "";
}

bool IsAboutName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNoSuchName:
    case Outcome::kNoAddress:
    case Outcome::kBadName:
    case Outcome::kAddressesRefused:
      return true;
    case Outcome::kFound:
    case Outcome::kServerFailure:
    case Outcome::kServerRefused:
    case Outcome::kTimedOut:
    case Outcome::kBadAnswer:
    case Outcome::kOverloaded:
    case Outcome::kCancelled:
      return false;
  }
  return false;
}

}  // namespace nephila::dns
