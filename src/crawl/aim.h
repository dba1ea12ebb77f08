// Aim: from a URL to where a visit goes.
//   In: a URL of http or https   Out: the visit's url, host, port, keys
//   Threads: any; a plain function.   Cost: three hashes.
#pragma once

#include <cstdint>

#include "crawl/visit.h"
#include "url/public_suffix.h"
#include "url/url.h"

namespace nephila::crawl {

// The authority of a URL (politeness/authority.h); kNoAuthority of what is no
// http or https URL.
uint32_t AuthorityOf(std::string_view url);

// `seed`: of the job's keys.
void AimAt(const url::Url& url, const url::PublicSuffixList& suffixes,
           uint64_t seed, Visit* visit);

}  // namespace nephila::crawl
