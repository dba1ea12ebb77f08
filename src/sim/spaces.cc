#include "sim/spaces.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hash.h"

namespace nephila::sim {
namespace {

constexpr std::string_view kCalendar = "/calendar/";
constexpr std::string_view kGrow = "/grow/";
constexpr std::string_view kReorder = "/reorder/";
constexpr int64_t kFolders = 5;

void AppendLink(std::string_view href, std::string* out) {
  out->append("<a href=\"").append(href).append("\">more</a>\n");
}

void Begin(std::string_view title, std::string* out) {
  out->append("<!DOCTYPE html>\n<html><head><title>")
      .append(title)
      .append("</title></head>\n<body>\n");
}

void End(const Web& web, uint64_t seed, std::string* out) {
  web.AppendText(seed, 2000, out);
  out->append("</body></html>\n");
}

// The number up to the next slash, which is taken too.
std::optional<uint64_t> TakeNumber(std::string_view* path) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(path->data(), path->data() + path->size(), number);
  if (error != std::errc()) return std::nullopt;
  path->remove_prefix(static_cast<size_t>(end - path->data()));
  if (path->starts_with('/')) path->remove_prefix(1);
  return number;
}

bool AppendCalendar(std::string_view path, const Web& web, uint64_t* seed,
                    std::string* out) {
  *seed = KeyedHash(path, 0);
  path.remove_prefix(kCalendar.size());
  const auto year = TakeNumber(&path);
  const auto month = TakeNumber(&path);
  if (!year || !month || *year > 1'000'000'000 || *month < 1 || *month > 12) {
    return false;
  }
  Begin("calendar", out);
  auto link = [&](uint64_t y, uint64_t m, uint64_t day) {
    std::string href(kCalendar);
    href.append(std::to_string(y)).append("/").append(std::to_string(m));
    if (day > 0) href.append("/").append(std::to_string(day));
    AppendLink(href, out);
  };
  if (*year > 0)
    link(*month == 1 ? *year - 1 : *year, (*month + 10) % 12 + 1, 0);
  link(*month == 12 ? *year + 1 : *year, *month % 12 + 1, 0);
  if (path.empty()) {
    for (uint64_t day = 1; day <= 28; ++day) link(*year, *month, day);
  }
  End(web, *seed, out);
  return true;
}

bool AppendGrowing(std::string_view path, const Web& web, uint64_t* seed,
                   std::string* out) {
  if (!path.ends_with('/')) return false;
  *seed = KeyedHash(path, 0);
  Begin("deeper", out);
  AppendLink("more/", out);
  AppendLink("next/", out);
  End(web, *seed, out);
  return true;
}

// Folders a/, b/, c/ ... in any order.
bool AppendReordered(std::string_view path, size_t folders, const Web& web,
                     uint64_t* seed, std::string* out) {
  path.remove_prefix(kReorder.size());
  std::string order;
  while (path.size() >= 2 && path[1] == '/' && order.size() <= folders) {
    order += path[0];
    path.remove_prefix(2);
  }
  std::string sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (!path.empty() || order.size() != folders) return false;
  for (size_t i = 0; i < folders; ++i) {
    if (sorted[i] != static_cast<char>('a' + i)) return false;
  }
  *seed = folders;
  Begin("folders", out);
  for (size_t i = 0; i + 1 < folders; ++i) {
    std::string other = order;
    std::swap(other[i], other[i + 1]);
    std::string href(kReorder);
    for (char folder : other) href.append(1, folder).append("/");
    AppendLink(href, out);
  }
  End(web, *seed, out);
  return true;
}

}  // namespace

std::string_view EntryOf(Behaviour space) {
  switch (space) {
    case Behaviour::kCalendar:
      return "/calendar/2026/1";
    case Behaviour::kGrowingPath:
      return kGrow;
    case Behaviour::kReorder:
      return "/reorder/";
    default:
      return "";
  }
}

bool AppendSpacePage(const Rule& space, std::string_view path, const Web& web,
                     uint64_t* seed, std::string* out) {
  if (space.behaviour == Behaviour::kCalendar && path.starts_with(kCalendar)) {
    return AppendCalendar(path, web, seed, out);
  }
  if (space.behaviour == Behaviour::kGrowingPath && path.starts_with(kGrow)) {
    return AppendGrowing(path, web, seed, out);
  }
  if (space.behaviour == Behaviour::kReorder && path.starts_with(kReorder)) {
    const auto folders = static_cast<size_t>(
        space.count == 0 ? kFolders : std::max<int64_t>(1, space.count));
    std::string first;
    if (path == kReorder) {  // the entry stands for the sorted order
      first = kReorder;
      for (size_t i = 0; i < folders; ++i) {
        first.append(1, static_cast<char>('a' + i)).append("/");
      }
      path = first;
    }
    return AppendReordered(path, folders, web, seed, out);
  }
  return false;
}

std::string_view WithoutSession(std::string_view path, std::string_view* id) {
  *id = {};
  const size_t at = path.rfind("sid=");
  if (at == std::string_view::npos || at == 0) return path;
  if (path[at - 1] != '?' && path[at - 1] != '&') return path;
  *id = path.substr(at + 4);
  return path.substr(0, at - 1);
}

void AppendSessionLinks(const Web& web, PageId page, std::string_view id,
                        std::string* out) {
  std::vector<WebLink> links;
  web.AppendLinks(page, &links);
  size_t written = 0;
  std::string href;
  for (const WebLink& link : links) {
    if (!(link.to.host == page.host) || written == 10) continue;
    ++written;
    href.clear();
    web.AppendPath(link.to, &href);
    href.append(href.find('?') == std::string::npos ? "?" : "&amp;")
        .append("sid=")
        .append(id);
    AppendLink(href, out);
  }
}

}  // namespace nephila::sim
