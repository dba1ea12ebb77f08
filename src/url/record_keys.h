// The keys of a UrlRecord, which it does not store (item/url_record.h).
//
// In: a record and the job's seed. Out: the keys that the Canonicalizer gave
// its URL; and the other way, a record of what the Canonicalizer made. Threads:
// any. Cost: three hashes, about 20 ns.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/keys.h"

namespace nephila::url {

inline Keys KeysOf(const item::UrlRecord& record, uint64_t seed) {
  return MakeKeys(record.url, record.host(), record.pld(), seed);
}

// A record of a canonical URL, the rest of it yet to be filled in. Its views
// are those of `url`.
inline item::UrlRecord MakeUrlRecord(const CanonicalUrl& url) {
  item::UrlRecord record;
  record.url = url.href;
  NEPHILA_CHECK(url.host.data() >= url.href.data() &&
                url.host.data() + url.host.size() <=
                    url.href.data() + url.href.size());
  record.host_start = static_cast<uint32_t>(url.host.data() - url.href.data());
  record.host_size = static_cast<uint32_t>(url.host.size());
  record.pld_size = static_cast<uint32_t>(url.pld.size());
  return record;
}

}  // namespace nephila::url
