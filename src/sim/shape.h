// Shape: how large the simulated web is, and how its pages and links are
// distributed. With a seed it determines every page.
//
// The defaults are the figures of the crawls that the papers report: IRLbot
// s7.1 (21 KB and 59 links a page, 6.5 new URLs a page, 16 % gzip at 1:5;
// 117.6 M hosts in 33.8 M domains on 4.26 M addresses) and VN s4.5 (29.5 % of
// the links to other sites are deep). Read by scenario.h from `[web]`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "config/table.h"

namespace nephila::sim {

struct Shape {
  int64_t seed = 1;
  int64_t hosts = 10'000;
  int64_t plds = 0;
  int64_t addresses = 0;
  int64_t pages_per_host = 54;
  int64_t largest_site = 1'000'000;
  uint64_t page_bytes = 21'500;
  uint64_t largest_page = 512'000;
  int64_t links = 59;
  int64_t inside_permille = 850;
  int64_t deep_permille = 295;
  int64_t new_links_tenths = 65;
  int64_t popularity = 10;
  int64_t gzip_permille = 160;
  int64_t chunked_permille = 200;
  int64_t robots_permille = 700;
  int64_t several_addresses_permille = 50;
  int64_t port = 0;
  std::string first_address = "127.1.0.1";
};

// The rows of `[web]`: names, ranges, docs.
std::span<const config::Row> ShapeRows();

// Fills in what is 0 because it follows from the number of hosts (plds,
// addresses) and refuses what cannot be, with the name of the setting.
Result<Shape> CompleteShape(Shape shape);

// "127.1.2.3" as a number with 127 in the highest byte.
Result<uint32_t> ParseIpv4(std::string_view text);

}  // namespace nephila::sim
