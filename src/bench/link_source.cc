#include "bench/link_source.h"

#include <algorithm>
#include <utility>

#include "bench/link_pages.h"

namespace nephila::bench {
namespace {

constexpr size_t kTemplateBytes = size_t{12} << 20;  // 8 MiB of distinct ones

}  // namespace

Result<Source> MakeSource(const BenchDrumOptions& options) {
  if (!options.text_file.empty()) {
    NEPHILA_TRY(auto links, MakeTextSource(options.text_file));
    return Source{options.text_file, std::move(links)};
  }
  NEPHILA_TRY(LinkPages pages, LoadLinkPages(kTemplateBytes));
  NEPHILA_TRY(auto links,
              LinkStream::Create(pages, {.links = options.links,
                                         .unique_share = options.unique_share,
                                         .seed = options.seed,
                                         .shuffled = options.shuffled}));
  return Source{pages.source, std::move(links)};
}

Result<TextSample> SampleTextOf(const BenchDrumOptions& options) {
  NEPHILA_TRY(Source source, MakeSource(options));
  TextSampleOptions sample;
  sample.codec = options.codec.value_or(Codec::kZstd);
  sample.max_links = std::min(sample.max_links, options.links);
  sample.hash_seed = kHashSeed;
  return SampleText(source.links.get(), sample);
}

}  // namespace nephila::bench
