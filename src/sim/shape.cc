#include "sim/shape.h"

#include <arpa/inet.h>

#include <algorithm>
#include <vector>

namespace nephila::sim {
namespace {

using config::AtLeast;
using config::Between;
using config::Limits;
using config::MakeRow;
using config::Row;

template <typename Access>
Row Of(std::string_view name, Access access, Limits limits,
       std::string_view doc) {
  return MakeRow<Shape>(name, access, limits, config::Change::kAnyTime, doc);
}

#define NEPHILA_FIELD(name, limits, doc) \
  Of(                                    \
      #name, [](auto& s) -> auto& { return s.name; }, limits, doc)

std::vector<Row> MakeRows() {
  return {
      NEPHILA_FIELD(seed, AtLeast(0), "Another seed is another web."),
      NEPHILA_FIELD(hosts, Between(1, 1'000'000'000),
                    "Hosts, on average over seeds."),
      NEPHILA_FIELD(plds, Between(0, 1'000'000'000),
                    "Pay-level domains; 0 is 33.8 for 117.6 hosts."),
      NEPHILA_FIELD(addresses, Between(0, 16'000'000),
                    "Server addresses; 0 is 4.26 for 117.6 hosts."),
      NEPHILA_FIELD(pages_per_host, Between(1, 1'000'000'000),
                    "Pages of a host, the mean of a heavy tail."),
      NEPHILA_FIELD(largest_site, Between(1, 1'000'000'000'000),
                    "Most pages of a host."),
      NEPHILA_FIELD(page_bytes, Between(1'000, 10'000'000),
                    "Bytes of a page, the mean of a heavy tail."),
      NEPHILA_FIELD(largest_page, Between(1'000, 100'000'000),
                    "About the most bytes of a page."),
      NEPHILA_FIELD(links, Between(0, 10'000),
                    "Links of a page of mean size; others in proportion."),
      NEPHILA_FIELD(inside_permille, Between(0, 1000),
                    "Links inside the site, of a thousand."),
      NEPHILA_FIELD(deep_permille, Between(0, 1000),
                    "Links to other sites that are not to their home page, of "
                    "a thousand."),
      NEPHILA_FIELD(new_links_tenths, Between(10, 10'000),
                    "New URLs that a page brings to a broad crawl, in tenths."),
      NEPHILA_FIELD(popularity, Between(1, 100),
                    "How unequal in-degrees are: the domain of rank r gets "
                    "links as r^(1/popularity - 1)."),
      NEPHILA_FIELD(gzip_permille, Between(0, 1000),
                    "Pages sent as gzip to those who take it, of a thousand."),
      NEPHILA_FIELD(chunked_permille, Between(0, 1000),
                    "Hosts that send pages in chunks, of a thousand."),
      NEPHILA_FIELD(robots_permille, Between(0, 1000),
                    "Hosts that have a robots.txt, of a thousand."),
      NEPHILA_FIELD(several_addresses_permille, Between(0, 1000),
                    "Hosts with 2 to 4 addresses, of a thousand."),
      NEPHILA_FIELD(port, Between(0, 65'535),
                    "The port in links; 0 is the server's own, 80 is not "
                    "written."),
      NEPHILA_FIELD(first_address, config::Any(),
                    "The first of the server addresses, in 127.0.0.0/8."),
  };
}

#undef NEPHILA_FIELD

Unexpected<Error> Refuse(std::string_view name, std::string_view what) {
  return Unexpected(config::SettingError("web." + std::string(name), what));
}

}  // namespace

std::span<const Row> ShapeRows() {
  static const std::vector<Row> kRows = MakeRows();
  return kRows;
}

Result<uint32_t> ParseIpv4(std::string_view text) {
  in_addr address{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "'" + config::Printable(text) +
                                "' is no IPv4 address such as 127.1.0.1"});
  }
  return ntohl(address.s_addr);
}

Result<Shape> CompleteShape(Shape shape) {
  if (shape.plds == 0) {
    shape.plds = std::max<int64_t>(1, shape.hosts * 338 / 1176);
  }
  if (shape.plds > shape.hosts) {
    return Refuse("plds", "more domains than hosts");
  }
  if (shape.addresses == 0) {
    shape.addresses =
        std::clamp<int64_t>(shape.hosts * 426 / 11'760, 1, 16'000'000);
  }
  if (shape.largest_page < shape.page_bytes) {
    return Refuse("largest_page", "below web.page_bytes");
  }
  if (shape.largest_site < shape.pages_per_host) {
    return Refuse("largest_site", "below web.pages_per_host");
  }
  auto first = ParseIpv4(shape.first_address);
  if (!first) return Refuse("first_address", first.error().message);
  // The last address of the network is its broadcast address.
  if (*first < 0x7F000001 || *first + shape.addresses > 0x7FFFFFFF) {
    return Refuse("first_address",
                  "the addresses are not all within 127.0.0.0/8");
  }
  return shape;
}

}  // namespace nephila::sim
