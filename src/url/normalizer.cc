#include "url/normalizer.h"

#include <algorithm>

#include "base/ascii.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

using config::WwwMode;

// What browsers leave in paths and queries and url.escape_unsafe escapes; a
// '%' that begins no escape is one of them.
constexpr bool IsUnsafe(char c) {
  return std::string_view("[]{}|\\^`%").find(c) != std::string_view::npos;
}

constexpr bool IsUnreserved(char c) {  // RFC 3986 s2.3
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

// "N=D" or "C=M": one of Apache's listing parameters. '=' may be escaped.
bool TakeSortParam(std::string_view names, std::string_view values,
                   std::string_view* query) {
  std::string_view rest = *query;
  if (rest.empty() || names.find(rest[0]) == std::string_view::npos) {
    return false;
  }
  rest.remove_prefix(1);
  if (rest.starts_with('=')) {
    rest.remove_prefix(1);
  } else if (rest.starts_with("%3D") || rest.starts_with("%3d")) {
    rest.remove_prefix(3);
  } else {
    return false;
  }
  if (rest.empty() || values.find(rest[0]) == std::string_view::npos) {
    return false;
  }
  *query = rest.substr(1);
  return true;
}

bool TakeSeparator(std::string_view* query) {
  for (std::string_view separator : {";", "&", "%3B", "%3b"}) {
    if (query->starts_with(separator)) {
      query->remove_prefix(separator.size());
      return true;
    }
  }
  return false;
}

// The queries of Apache's directory listings: "N=D" (1.3) and "C=N;O=D" (2.x).
bool IsDirectorySort(std::string_view query) {
  constexpr size_t kLongest = sizeof("C%3DN%3BO%3DD") - 1;
  if (query.size() < 3 || query.size() > kLongest) return false;
  std::string_view old_style = query;
  if (TakeSortParam("NMSD", "AD", &old_style) && old_style.empty()) return true;
  // Either order, either of them alone.
  bool column = TakeSortParam("C", "NMSD", &query);
  if (!column && !TakeSortParam("O", "AD", &query)) return false;
  if (query.empty()) return true;
  return TakeSeparator(&query) &&
         (column ? TakeSortParam("O", "AD", &query)
                 : TakeSortParam("C", "NMSD", &query)) &&
         query.empty();
}

bool IsDotSegment(std::string_view segment) {
  if (segment.size() > 6) return false;
  std::string decoded;
  AppendDecoded(segment, &decoded);
  return decoded == "." || decoded == "..";
}

}  // namespace

Normalizer::NameSet::NameSet(const std::vector<std::string>& names,
                             bool ignore_case)
    : ignore_case_(ignore_case) {
  for (std::string text : names) {
    if (text.empty()) continue;
    bool prefix = text.ends_with('*');
    if (prefix) text.pop_back();
    if (ignore_case)
      std::transform(text.begin(), text.end(), text.begin(), Lower);
    // A bare "*" takes every name, the empty ones too.
    first_letters_ |= text.empty() ? ~uint64_t{0} : LetterBit(text[0]);
    last_letters_ |= prefix ? ~uint64_t{0} : LetterBit(text.back());
    names_.push_back({std::move(text), prefix});
  }
}

bool Normalizer::NameSet::Contains(std::string_view name) const {
  if (names_.empty()) return false;
  if (!name.empty() && (first_letters_ & LetterBit(name[0])) == 0) return false;
  return std::any_of(names_.begin(), names_.end(), [&](const Name& candidate) {
    std::string_view text = candidate.text;
    if (candidate.prefix ? name.size() < text.size()
                         : name.size() != text.size()) {
      return false;
    }
    if (!ignore_case_) return name.starts_with(text);
    return std::equal(text.begin(), text.end(), name.begin(),
                      [](char a, char b) { return a == Lower(b); });
  });
}

Normalizer::Normalizer(const config::UrlSettings& settings,
                       const PublicSuffixList& suffixes)
    : settings_(settings),
      suffixes_(suffixes),
      default_documents_(settings.default_documents, /*ignore_case=*/false),
      session_ids_(settings.session_ids, /*ignore_case=*/true),
      stripped_params_(settings.strip_query, /*ignore_case=*/false) {}

void Normalizer::Normalize(Url* url) {
  if (settings_.strip_fragment) url->RemoveFragment();
  if (settings_.strip_userinfo) url->RemoveUserinfo();
  NormalizeHost(url);

  std::string_view tail =
      url->href().substr(url->href().size() - url->tail_size());
  bool has_semicolon = tail.find(';') != std::string_view::npos;
  if (settings_.escape_unsafe || tail.find('%') != std::string_view::npos) {
    NormalizeEscapes(url);
  }
  // Paths before queries: whether a query is a listing's depends on the path.
  NormalizePath(url, has_semicolon);
  if (url->has_query()) NormalizeQuery(url, has_semicolon);

  // A default document counts only where nothing follows it.
  if (url->has_query()) return;
  std::string_view path = url->path();
  if (!default_documents_.MayEndWith(path.back())) return;
  size_t name = path.rfind('/') + 1;
  if (name < path.size() && default_documents_.Contains(path.substr(name))) {
    scratch_.assign(path, 0, name);
    url->ReplacePath(scratch_);
  }
}

void Normalizer::NormalizeHost(Url* url) {
  if (url->host_kind() != HostKind::kDomain) return;
  if (settings_.strip_host_dot && url->host().ends_with('.') &&
      url->host().size() > 1) {
    scratch_ = url->host().substr(0, url->host().size() - 1);
    url->ReplaceHost(scratch_);
  }
  if (settings_.www == WwwMode::kKeep) return;
  std::string_view host = url->host();
  std::string_view site = suffixes_.RegistrableDomain(
      host, PublicSuffixList::Rules::kIcannAndPrivate);
  if (site.empty()) return;
  if (settings_.www == WwwMode::kAdd) {
    if (site.size() == host.size()) {
      url->ReplaceHost(scratch_.assign("www.").append(site));
    }
    return;
  }
  while (host.starts_with("www.") && host.size() - 4 >= site.size()) {
    host.remove_prefix(4);
  }
  if (host.size() < url->host().size()) url->ReplaceHost(scratch_.assign(host));
}

void Normalizer::NormalizeEscapes(Url* url) {
  if (settings_.decode_unreserved || settings_.escape_unsafe) {
    scratch_.clear();
    AppendRewrittenEscapes(url->path());
    url->ReplacePath(scratch_);
    if (url->has_query()) {
      scratch_.clear();
      AppendRewrittenEscapes(url->query());
      url->ReplaceQuery(scratch_);
    }
  } else if (settings_.uppercase_escapes) {
    char* tail = url->mutable_tail();
    std::string_view text(tail, url->tail_size());
    for (size_t i = text.find('%'); i != std::string_view::npos;
         i = text.find('%', i + 1)) {
      if (!IsEscape(text, i)) continue;
      for (size_t k = i + 1; k <= i + 2; ++k) {
        if (tail[k] >= 'a') tail[k] = static_cast<char>(tail[k] & ~0x20);
      }
      i += 2;
    }
  }
}

void Normalizer::AppendRewrittenEscapes(std::string_view text) {
  // How many of the next bytes could make an escape of a '%' that begins none:
  // "%%341" is not to become "%41".
  int guarded = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsEscape(text, i)) {
      char byte = EscapedByte(text, i);
      if (settings_.decode_unreserved && IsUnreserved(byte) &&
          (guarded == 0 || HexValue(byte) < 0)) {
        scratch_.push_back(byte);
      } else if (settings_.uppercase_escapes) {
        AppendEscape(byte, &scratch_);
      } else {
        scratch_.append(text, i, 3);
      }
      guarded = 0;
      i += 2;
    } else if (settings_.escape_unsafe && IsUnsafe(text[i])) {
      AppendEscape(text[i], &scratch_);
    } else {
      scratch_.push_back(text[i]);
      guarded = text[i] == '%'           ? 2
                : HexValue(text[i]) >= 0 ? std::max(guarded - 1, 0)
                                         : 0;
    }
  }
}

void Normalizer::NormalizePath(Url* url, bool has_semicolon) {
  std::string_view path = url->path();
  bool slashes =
      settings_.collapse_slashes && path.find("//") != std::string_view::npos;
  if (!has_semicolon && !slashes) return;
  scratch_.clear();
  for (size_t begin = 1; begin <= path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view segment = path.substr(begin, end - begin);
    begin = end + 1;
    scratch_.push_back('/');
    AppendWithoutSessionIds(segment);
    // An empty segment in the middle is what collapsing takes away.
    if (settings_.collapse_slashes && scratch_.ends_with('/') &&
        begin <= path.size()) {
      scratch_.pop_back();
    }
  }
  if (scratch_ != path) url->ReplacePath(scratch_);
}

void Normalizer::AppendWithoutSessionIds(std::string_view segment) {
  size_t start = scratch_.size();
  size_t name_end = std::min(segment.find(';'), segment.size());
  scratch_.append(segment, 0, name_end);
  for (size_t begin = name_end; begin < segment.size();) {
    size_t end = std::min(segment.find(';', begin + 1), segment.size());
    std::string_view param = segment.substr(begin + 1, end - begin - 1);
    size_t equals = param.find('=');
    if (equals == std::string_view::npos ||
        !session_ids_.Contains(param.substr(0, equals))) {
      scratch_.append(segment, begin, end - begin);
    }
    begin = end;
  }
  // "..;sid=1" may not turn into "..", which the parser would have resolved.
  if (IsDotSegment(std::string_view(scratch_).substr(start))) {
    scratch_.replace(start, std::string::npos, segment);
  }
}

void Normalizer::NormalizeQuery(Url* url, bool has_semicolon) {
  DropParams(url, /*split_at_semicolons=*/has_semicolon);
  if (!url->has_query()) return;
  bool sort_order = settings_.trim_directory_sort &&
                    url->path().ends_with('/') && IsDirectorySort(url->query());
  if (sort_order || (settings_.drop_empty_query && url->query().empty())) {
    url->RemoveQuery();
  }
  if (settings_.sort_query && url->has_query()) SortParams(url);
}

void Normalizer::DropParams(Url* url, bool split_at_semicolons) {
  std::string_view query = url->query();
  bool changed = false;
  bool kept_one = false;
  scratch_.clear();
  for (size_t begin = 0; begin <= query.size();) {
    size_t end = begin;
    while (end < query.size() && query[end] != '&' &&
           (query[end] != ';' || !split_at_semicolons)) {
      ++end;
    }
    std::string_view param = query.substr(begin, end - begin);
    if (IsDropped(param)) {
      // Up to the first drop nothing is copied: mostly there is none.
      if (!changed) scratch_.assign(query, 0, begin == 0 ? 0 : begin - 1);
      changed = true;
    } else {
      if (changed && kept_one) scratch_.push_back(query[begin - 1]);
      if (changed) scratch_.append(param);
      kept_one = true;
    }
    begin = end + 1;
  }
  if (!changed) return;
  if (!scratch_.empty()) {
    url->ReplaceQuery(scratch_);
  } else {
    url->RemoveQuery();
  }
}

void Normalizer::SortParams(Url* url) {
  // Only '&' separates here: "q=tl;dr" is one parameter.
  std::string_view query = url->query();
  params_.clear();
  for (size_t begin = 0; begin <= query.size();) {
    size_t end = std::min(query.find('&', begin), query.size());
    params_.push_back(query.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::is_sorted(params_.begin(), params_.end())) return;
  std::sort(params_.begin(), params_.end());
  scratch_.clear();
  for (size_t i = 0; i < params_.size(); ++i) {
    if (i > 0) scratch_.push_back('&');
    scratch_.append(params_[i]);
  }
  url->ReplaceQuery(scratch_);
}

bool Normalizer::IsDropped(std::string_view param) const {
  if (param.empty()) return settings_.drop_empty_params;
  size_t equals = std::min(param.find('='), param.size());
  std::string_view name = param.substr(0, equals);
  return (equals < param.size() && session_ids_.Contains(name)) ||
         stripped_params_.Contains(name);
}

}  // namespace nephila::url
