#include "url/parser.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "base/check.h"
#include "url/host.h"
#include "url/ordinary.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

using Outcome = Result<void, ParseError>;

// The length of the scheme before its ':', or 0 if there is none.
size_t SchemeLength(std::string_view text) {
  if (text.empty() || !IsAlpha(text[0])) return 0;
  for (size_t i = 1; i < text.size(); ++i) {
    char c = text[i];
    if (c == ':') return i;
    if (!IsAlpha(c) && !IsDigit(c) && c != '+' && c != '-' && c != '.') break;
  }
  return 0;
}

Scheme ClassifyScheme(std::string_view lower) {
  if (lower == "https") return Scheme::kHttps;
  if (lower == "http") return Scheme::kHttp;
  if (lower == "file") return Scheme::kFile;
  if (lower == "ftp") return Scheme::kFtp;
  if (lower == "ws") return Scheme::kWs;
  if (lower == "wss") return Scheme::kWss;
  return Scheme::kOther;
}

unsigned DefaultPort(Scheme scheme) {
  switch (scheme) {
    case Scheme::kHttp:
    case Scheme::kWs:
      return 80;
    case Scheme::kHttps:
    case Scheme::kWss:
      return 443;
    case Scheme::kFtp:
      return 21;
    case Scheme::kFile:
    case Scheme::kOther:
      return 0;
  }
  return 0;
}

bool IsDriveLetter(std::string_view text) {
  return text.size() == 2 && IsAlpha(text[0]) &&
         (text[1] == ':' || text[1] == '|');
}

// "C|" or "C:" at the start of a path: the whole first segment.
bool StartsWithDriveLetter(std::string_view text) {
  return text.size() >= 2 && IsDriveLetter(text.substr(0, 2)) &&
         (text.size() == 2 ||
          std::string_view("/\\?#").find(text[2]) != std::string_view::npos);
}

// The number of dots a path segment stands for ("%2e" is one): 1, 2, or 0
// for an ordinary segment.
int CountDots(std::string_view segment) {
  int dots = 0;
  size_t i = 0;
  while (i < segment.size()) {
    if (segment[i] == '.') {
      i += 1;
    } else if (segment.size() - i >= 3 && segment[i] == '%' &&
               segment[i + 1] == '2' && (segment[i + 2] | 0x20) == 'e') {
      i += 3;
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

// What a byte of a path asks for, as bits so that a scan can OR them.
enum : uint8_t {
  kEncode = 1,     // it is in the path percent-encode set
  kBackslash = 2,  // a slash, if the scheme is special
  kDot = 4,        // '.'
  kPercent = 8,    // '%': maybe of "%2e", which is a dot too
};
constexpr ByteTable MakePathTable() {
  ByteTable table{};
  for (size_t c = 0; c < 256; ++c) {
    if (InSet(static_cast<char>(c), kPath)) table[c] = kEncode;
  }
  table['\\'] = kBackslash;
  table['.'] = kDot;
  table['%'] = kPercent;
  return table;
}
constexpr ByteTable kPathTable = MakePathTable();

}  // namespace

// Writes one URL into a Url; the methods are the standard's states, each for a
// whole part of the URL.
class UrlBuilder {
 public:
  UrlBuilder(const Url* base, Url* out, const QueryEncoder* encoder)
      : base_(base), url_(*out), encoder_(encoder) {
    url_.href_.clear();
    url_.query_start_ = Url::kNone;
    url_.fragment_start_ = Url::kNone;
    url_.host_kind_ = HostKind::kNone;
    url_.opaque_path_ = false;
  }

  // Builds a URL that stands in the result as it is (url/ordinary.h), and
  // returns false for all others. Build() would give the same result.
  bool BuildOrdinary(std::string_view text) {
    std::optional<OrdinaryUrl> parts = SplitOrdinary(text);
    if (!parts) return false;
    url_.href_.assign(text);
    url_.scheme_ = parts->secure ? Scheme::kHttps : Scheme::kHttp;
    url_.scheme_end_ = parts->host - 3;
    url_.username_end_ = url_.host_start_ = parts->host;
    url_.host_kind_ = HostKind::kDomain;
    url_.host_end_ = url_.authority_end_ = url_.path_start_ = parts->path;
    if (parts->path == text.size()) url_.href_.push_back('/');
    if (parts->query < parts->fragment) url_.query_start_ = parts->query;
    if (parts->fragment < text.size()) url_.fragment_start_ = parts->fragment;
    return true;
  }

  Outcome Build(std::string_view text) {
    size_t length = SchemeLength(text);
    if (length == 0) return BuildWithoutScheme(text);
    url_.href_.append(text, 0, length);
    for (char& c : url_.href_) c = Lower(c);
    SetScheme(ClassifyScheme(url_.href_));
    url_.href_.push_back(':');
    text.remove_prefix(length + 1);

    if (url_.scheme_ == Scheme::kFile) {
      bool same = base_ != nullptr && base_->scheme_ == Scheme::kFile;
      return BuildFile(text, same ? base_ : nullptr);
    }
    if (url_.is_special()) {
      bool relative = base_ != nullptr && base_->scheme_ == url_.scheme_ &&
                      !text.starts_with("//");
      return relative ? BuildRelative(text) : BuildAuthority(SkipSlashes(text));
    }
    if (text.starts_with("//")) return BuildAuthority(text.substr(2));
    if (text.starts_with('/')) {
      BeginPathWithoutHost();
      return BuildPath(text.substr(1));
    }
    return BuildOpaquePath(text);
  }

 private:
  bool special() const { return url_.is_special(); }
  bool IsSlash(char c) const { return c == '/' || (c == '\\' && special()); }
  uint32_t Here() const { return static_cast<uint32_t>(url_.href_.size()); }

  // Sets the scheme whose text is all that href_ holds so far.
  void SetScheme(Scheme scheme) {
    url_.scheme_ = scheme;
    url_.scheme_end_ = Here();
  }

  static std::string_view SkipSlashes(std::string_view text) {
    size_t begin = text.find_first_not_of("/\\");
    return begin == std::string_view::npos ? "" : text.substr(begin);
  }

  Outcome BuildWithoutScheme(std::string_view text) {
    if (base_ == nullptr || (base_->opaque_path_ && !text.starts_with('#'))) {
      return Unexpected(ParseError::kRelativeWithoutBase);
    }
    url_.href_.append(base_->scheme());
    SetScheme(base_->scheme_);
    url_.href_.push_back(':');
    if (base_->opaque_path_) {
      BeginPathWithoutHost();
      url_.opaque_path_ = true;
      url_.href_.append(base_->path());
      CopyQuery();
      return BuildFragment(text.substr(1));
    }
    if (url_.scheme_ == Scheme::kFile) return BuildFile(text, base_);
    return BuildRelative(text);
  }

  // States "relative" and "relative slash".
  Outcome BuildRelative(std::string_view text) {
    if (!text.empty() && IsSlash(text[0])) {
      text.remove_prefix(1);
      if (special() && !text.empty() && IsSlash(text[0])) {
        return BuildAuthority(SkipSlashes(text));
      }
      if (text.starts_with('/')) return BuildAuthority(text.substr(1));
      CopyAuthority();
      return BuildPath(text);
    }
    CopyAuthority();
    url_.href_.append(base_->path());
    return BuildOnBasePath(text);
  }

  // What follows when the base's authority and path have been copied: a
  // query, a fragment, nothing, or a path that begins in the base's folder.
  Outcome BuildOnBasePath(std::string_view text) {
    if (text.empty() || text[0] == '#') {
      FinishPath();
      CopyQuery();
      return text.empty() ? Outcome() : BuildFragment(text.substr(1));
    }
    if (text[0] == '?') {
      FinishPath();
      return BuildQuery(text.substr(1));
    }
    ShortenPath();
    return BuildPath(text);
  }

  void CopyAuthority() {
    uint32_t scheme_end = url_.scheme_end_;
    url_.href_.append(base_->href_, scheme_end + 1,
                      base_->authority_end_ - scheme_end - 1);
    url_.username_end_ = base_->username_end_;
    url_.host_start_ = base_->host_start_;
    url_.host_end_ = base_->host_end_;
    url_.authority_end_ = base_->authority_end_;
    url_.path_start_ = base_->authority_end_;
    url_.host_kind_ = base_->host_kind_;
  }

  void CopyQuery() {
    if (!base_->has_query()) return;
    url_.query_start_ = Here();
    url_.href_.push_back('?');
    url_.href_.append(base_->query());
  }

  void BeginPathWithoutHost() {
    url_.username_end_ = url_.host_start_ = url_.host_end_ =
        url_.authority_end_ = url_.path_start_ = Here();
  }

  // State "authority" and those behind it; `text` begins behind the slashes.
  Outcome BuildAuthority(std::string_view text) {
    size_t end =
        std::min(text.find_first_of(special() ? "/?#\\" : "/?#"), text.size());
    std::string_view authority = text.substr(0, end);
    url_.href_.append("//");
    url_.username_end_ = Here();
    size_t at = authority.rfind('@');
    if (at != std::string_view::npos) {
      AppendUserinfo(authority.substr(0, at));
      authority.remove_prefix(at + 1);
      if (authority.empty()) return Unexpected(ParseError::kEmptyHost);
    }
    NEPHILA_RETURN_IF_ERROR(AppendHostAndPort(authority));
    return BuildPathStart(text.substr(end));
  }

  void AppendUserinfo(std::string_view userinfo) {
    size_t colon = std::min(userinfo.find(':'), userinfo.size());
    AppendEncoded(userinfo.substr(0, colon), kUserinfo, &url_.href_);
    bool has_name = Here() > url_.username_end_;
    url_.username_end_ = Here();
    if (colon + 1 < userinfo.size()) {
      url_.href_.push_back(':');
      AppendEncoded(userinfo.substr(colon + 1), kUserinfo, &url_.href_);
    } else if (!has_name) {
      return;  // "http://@host", "http://:@host"
    }
    url_.href_.push_back('@');
  }

  Outcome AppendHostAndPort(std::string_view text) {
    // The ':' of a port stands outside the brackets of an IPv6 address.
    size_t colon = 0;
    bool in_brackets = false;
    for (; colon < text.size(); ++colon) {
      if (text[colon] == '[') in_brackets = true;
      if (text[colon] == ']') in_brackets = false;
      if (text[colon] == ':' && !in_brackets) break;
    }
    url_.host_start_ = Here();
    url_.host_kind_ = HostKind::kEmpty;
    std::string_view host = text.substr(0, colon);
    if (host.empty() && (special() || colon < text.size())) {
      return Unexpected(ParseError::kEmptyHost);
    }
    if (!host.empty()) NEPHILA_RETURN_IF_ERROR(AppendHostText(host));
    url_.host_end_ = Here();
    if (colon < text.size()) {
      NEPHILA_RETURN_IF_ERROR(AppendPort(text.substr(colon + 1)));
    }
    url_.authority_end_ = Here();
    return {};
  }

  Outcome AppendHostText(std::string_view host) {
    std::optional<HostKind> kind = AppendHost(host, special(), &url_.href_);
    if (!kind) return Unexpected(ParseError::kInvalidHost);
    url_.host_kind_ = *kind;
    return {};
  }

  Outcome AppendPort(std::string_view digits) {
    unsigned port = 0;
    for (char c : digits) {
      if (!IsDigit(c)) return Unexpected(ParseError::kInvalidPort);
      port = port * 10 + static_cast<unsigned>(c - '0');
      if (port > 65535) return Unexpected(ParseError::kInvalidPort);
    }
    bool implied = special() && port == DefaultPort(url_.scheme_) &&
                   url_.scheme_ != Scheme::kFile;
    if (digits.empty() || implied) return {};
    url_.href_.push_back(':');
    url_.href_.append(std::to_string(port));
    return {};
  }

  // States "file", "file slash" and "file host". `base`: a file URL, or null.
  Outcome BuildFile(std::string_view text, const Url* base) {
    auto slash = [](std::string_view s) {
      return !s.empty() && (s[0] == '/' || s[0] == '\\');
    };
    if (slash(text) && slash(text.substr(1)))
      return BuildFileHost(text.substr(2));
    if (base == nullptr) {
      BeginFilePath("");
      return BuildPath(slash(text) ? text.substr(1) : text);
    }
    BeginFilePath(base->host());
    url_.host_kind_ = base->host_kind_;
    if (slash(text)) {
      text.remove_prefix(1);
      std::string_view drive = base->path().substr(0, 3);
      bool base_has_drive = drive.size() == 3 &&
                            StartsWithDriveLetter(base->path().substr(1)) &&
                            drive[2] == ':';
      if (base_has_drive && !StartsWithDriveLetter(text)) {
        url_.href_.append(drive);
      }
      return BuildPath(text);
    }
    if (StartsWithDriveLetter(text)) return BuildPath(text);
    url_.href_.append(base->path());
    return BuildOnBasePath(text);
  }

  Outcome BuildFileHost(std::string_view text) {
    size_t end = std::min(text.find_first_of("/\\?#"), text.size());
    std::string_view host = text.substr(0, end);
    if (IsDriveLetter(host)) {
      BeginFilePath("");
      return BuildPath(text);
    }
    BeginFilePath("");
    if (!host.empty()) {
      NEPHILA_RETURN_IF_ERROR(AppendHostText(host));
      if (url_.href_.compare(url_.host_start_, std::string::npos,
                             "localhost") == 0) {
        url_.href_.resize(url_.host_start_);
        url_.host_kind_ = HostKind::kEmpty;
      }
      url_.host_end_ = url_.authority_end_ = Here();
    }
    return BuildPathStart(text.substr(end));
  }

  void BeginFilePath(std::string_view host) {
    url_.href_.append("//");
    url_.username_end_ = url_.host_start_ = Here();
    url_.href_.append(host);
    url_.host_kind_ = HostKind::kEmpty;
    url_.host_end_ = url_.authority_end_ = url_.path_start_ = Here();
  }

  // State "path start": `text` begins with the path's first slash, if any.
  Outcome BuildPathStart(std::string_view text) {
    url_.path_start_ = Here();
    if (!text.empty() && IsSlash(text[0])) return BuildPath(text.substr(1));
    if (special()) return BuildPath(text);
    if (text.empty()) return {};
    if (text[0] == '?') return BuildQuery(text.substr(1));
    if (text[0] == '#') return BuildFragment(text.substr(1));
    return BuildPath(text);
  }

  // State "path", with everything behind it. `text` begins behind the slash;
  // href_ may hold the part of a base's path that it is appended to.
  Outcome BuildPath(std::string_view text) {
    size_t end = std::min(text.find('#'), text.size());
    end = std::min(text.substr(0, end).find('?'), end);
    std::string_view path = text.substr(0, end);
    unsigned seen = ScanBytes(path, kPathTable);
    bool slow = (seen & kEncode) != 0 ||
                ((seen & kBackslash) != 0 && special()) ||
                url_.scheme_ == Scheme::kFile ||
                ((seen & kDot) != 0 && HasSegmentWith('.', path)) ||
                ((seen & kPercent) != 0 && HasSegmentWith('%', path));
    if (slow) {
      AppendSegments(path);
    } else {
      url_.href_.push_back('/');
      url_.href_.append(path);
    }
    FinishPath();
    if (end == text.size()) return {};
    std::string_view rest = text.substr(end + 1);
    return text[end] == '?' ? BuildQuery(rest) : BuildFragment(rest);
  }

  void AppendSegments(std::string_view path) {
    for (;;) {
      size_t end = 0;
      while (end < path.size() && !IsSlash(path[end])) ++end;
      bool last = end == path.size();
      AppendSegment(path.substr(0, end), last);
      if (last) return;
      path.remove_prefix(end + 1);
    }
  }

  void AppendSegment(std::string_view segment, bool last) {
    int dots = CountDots(segment);
    if (dots == 2) ShortenPath();
    if (dots > 0) {
      if (last) url_.href_.push_back('/');
      return;
    }
    bool first = Here() == url_.path_start_;
    url_.href_.push_back('/');
    AppendEncoded(segment, kPath, &url_.href_);
    if (first && url_.scheme_ == Scheme::kFile && IsDriveLetter(segment)) {
      url_.href_.back() = ':';
    }
  }

  // Drops the last segment, but never a drive letter that is all there is.
  void ShortenPath() {
    std::string_view path =
        std::string_view(url_.href_).substr(url_.path_start_);
    if (path.empty()) return;
    if (url_.scheme_ == Scheme::kFile && path.size() == 3 &&
        IsDriveLetter(path.substr(1)) && path[2] == ':') {
      return;
    }
    url_.href_.resize(url_.path_start_ + path.rfind('/'));
  }

  // A path "//x" with no host before it would read as a host.
  void FinishPath() {
    if (url_.host_kind_ != HostKind::kNone) return;
    if (url_.href_.compare(url_.path_start_, 2, "//") != 0) return;
    url_.href_.insert(url_.path_start_, "/.");
    url_.path_start_ += 2;
  }

  Outcome BuildOpaquePath(std::string_view text) {
    BeginPathWithoutHost();
    url_.opaque_path_ = true;
    size_t end = std::min(text.find_first_of("?#"), text.size());
    std::string_view path = text.substr(0, end);
    // A space right before '?' or '#' would be lost when those are removed.
    bool space = end < text.size() && path.ends_with(' ');
    if (space) path.remove_suffix(1);
    AppendEncoded(path, kC0Control, &url_.href_);
    if (space) url_.href_.append("%20");
    if (end == text.size()) return {};
    std::string_view rest = text.substr(end + 1);
    return text[end] == '?' ? BuildQuery(rest) : BuildFragment(rest);
  }

  Outcome BuildQuery(std::string_view text) {
    size_t end = std::min(text.find('#'), text.size());
    url_.query_start_ = Here();
    url_.href_.push_back('?');
    AppendQuery(text.substr(0, end));
    return end == text.size() ? Outcome() : BuildFragment(text.substr(end + 1));
  }

  void AppendQuery(std::string_view query) {
    EncodeSet set = special() ? kSpecialQuery : kQuery;
    bool web_socket =
        url_.scheme_ == Scheme::kWs || url_.scheme_ == Scheme::kWss;
    if (encoder_ == nullptr || !special() || web_socket) {
      AppendEncoded(query, set, &url_.href_);
      return;
    }
    std::string bytes;
    encoder_->Append(query, &bytes);
    AppendEncodedBytes(bytes, set, &url_.href_);
  }

  Outcome BuildFragment(std::string_view text) {
    url_.fragment_start_ = Here();
    url_.href_.push_back('#');
    AppendEncoded(text, kFragment, &url_.href_);
    return {};
  }

  const Url* base_;
  Url& url_;
  const QueryEncoder* encoder_;
};

std::string_view ParseErrorName(ParseError error) {
  switch (error) {
    case ParseError::kRelativeWithoutBase:
      return "relative-without-base";
    case ParseError::kEmptyHost:
      return "empty-host";
    case ParseError::kInvalidHost:
      return "invalid-host";
    case ParseError::kInvalidPort:
      return "invalid-port";
    case ParseError::kTooLong:
      return "too-long";
  }
  return "unknown";
}

std::string_view TrimUrl(std::string_view text) {
  auto trimmed = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && trimmed(text.front())) text.remove_prefix(1);
  while (!text.empty() && trimmed(text.back())) text.remove_suffix(1);
  return text;
}

Result<void, ParseError> Parse(std::string_view input, const Url* base,
                               Url* out, const QueryEncoder* encoder) {
  NEPHILA_DCHECK(base != out);
  input = TrimUrl(input);
  if (input.size() > kLongestInput ||
      (base != nullptr && base->href().size() > kLongestBase)) {
    return Unexpected(ParseError::kTooLong);
  }

  UrlBuilder builder(base, out, encoder);
  if (builder.BuildOrdinary(input)) return {};
  auto removed = [](char c) { return c == '\t' || c == '\n' || c == '\r'; };
  if (std::none_of(input.begin(), input.end(), removed)) {
    return builder.Build(input);
  }
  std::string cleaned(input);
  std::erase_if(cleaned, removed);
  return builder.Build(cleaned);
}

}  // namespace nephila::url
