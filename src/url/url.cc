#include "url/url.h"

#include "base/check.h"

namespace nephila::url {

std::string_view Url::username() const {
  return has_userinfo() ? Part(scheme_end_ + 3, username_end_)
                        : std::string_view();
}

std::string_view Url::password() const {
  // "user:pass@host": from behind the ':' to before the '@'.
  return has_userinfo() && host_start_ > username_end_ + 1
             ? Part(username_end_ + 1, host_start_ - 1)
             : std::string_view();
}

std::string_view Url::port() const {
  return authority_end_ > host_end_ ? Part(host_end_ + 1, authority_end_)
                                    : std::string_view();
}

uint32_t Url::PathEnd() const {
  if (has_query()) return query_start_;
  if (has_fragment()) return fragment_start_;
  return static_cast<uint32_t>(href_.size());
}

std::string_view Url::query() const {
  if (!has_query()) return {};
  return Part(query_start_ + 1,
              has_fragment() ? fragment_start_ : href_.size());
}

std::string_view Url::fragment() const {
  if (!has_fragment()) return {};
  return Part(fragment_start_ + 1, href_.size());
}

void Url::RemoveUserinfo() {
  if (has_userinfo()) Splice(scheme_end_ + 3, host_start_, "");
}

void Url::RemoveFragment() {
  if (!has_fragment()) return;
  href_.resize(fragment_start_);
  fragment_start_ = kNone;
}

void Url::RemoveQuery() {
  if (!has_query()) return;
  uint32_t begin = query_start_;
  query_start_ = kNone;
  Splice(begin, has_fragment() ? fragment_start_ : href_.size(), "");
}

void Url::ReplaceHost(std::string_view host) {
  Splice(host_start_, host_end_, host);
}

void Url::ReplacePath(std::string_view path) {
  NEPHILA_DCHECK(is_http() && path.starts_with('/'));
  Splice(path_start_, PathEnd(), path);
}

void Url::ReplaceQuery(std::string_view query) {
  NEPHILA_CHECK(has_query());
  Splice(query_start_ + 1, has_fragment() ? fragment_start_ : href_.size(),
         query);
}

void Url::Splice(size_t begin, size_t end, std::string_view text) {
  href_.replace(begin, end - begin, text);
  auto shift = [&](uint32_t* offset) {
    if (*offset == kNone || *offset < end) return;
    *offset = static_cast<uint32_t>(*offset - (end - begin) + text.size());
  };
  // In a removal of userinfo the end of the user name lies inside the range.
  if (username_end_ > begin && username_end_ < end) {
    username_end_ = static_cast<uint32_t>(begin);
  }
  shift(&username_end_);
  shift(&host_start_);
  shift(&host_end_);
  shift(&authority_end_);
  shift(&path_start_);
  shift(&query_start_);
  shift(&fragment_start_);
}

}  // namespace nephila::url
