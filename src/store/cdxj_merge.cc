#include "store/cdxj_merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "store/cdxj.h"
#include "store/line_file.h"

namespace nephila::store {
namespace {

// A sorted file and the line of it that comes next.
class Input {
 public:
  static Result<std::unique_ptr<Input>> Open(FileSystem& fs,
                                             const std::string& path) {
    NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kRead));
    file->Advise(0, 0, Advice::kSequential);
    return std::make_unique<Input>(std::move(file));
  }

  explicit Input(std::unique_ptr<File> file)
      : file_(std::move(file)), reader_(*file_, kLongestCdxjLine) {}

  const std::string& line() const { return line_; }

  // False at the end.
  Result<bool> Next() {
    std::swap(line_, last_);
    do {
      NEPHILA_TRY(bool more, reader_.Next(&line_));
      if (!more) return false;
    } while (line_.empty() || IsCdxjHeader(line_));
    if (line_ < last_) {
      return Unexpected(
          Error{ErrorCode::kCorruption,
                fmt::format("{}: line {} is not in order: sort the file by "
                            "bytes (LC_ALL=C sort)",
                            file_->path(), reader_.number())});
    }
    return true;
  }

 private:
  std::unique_ptr<File> file_;
  LineReader reader_;
  std::string line_;
  std::string last_;
};

// The heap's top has the least line.
bool Later(const std::unique_ptr<Input>& a, const std::unique_ptr<Input>& b) {
  return a->line() > b->line();
}

// REQUIRES: no more than kMostMerged inputs.
Result<uint64_t> MergeInto(FileSystem& fs, std::span<const std::string> inputs,
                           LineWriter& writer) {
  std::vector<std::unique_ptr<Input>> heap;
  heap.reserve(inputs.size());
  for (const std::string& path : inputs) {
    NEPHILA_TRY(auto input, Input::Open(fs, path));
    NEPHILA_TRY(bool any, input->Next());
    if (any) heap.push_back(std::move(input));
  }
  std::make_heap(heap.begin(), heap.end(), Later);
  std::string last;
  uint64_t lines = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), Later);
    Input& least = *heap.back();
    if (lines == 0 || least.line() != last) {
      last = least.line();
      NEPHILA_RETURN_IF_ERROR(writer.Add(last));
      ++lines;
    }
    NEPHILA_TRY(bool more, least.Next());
    if (more) {
      std::push_heap(heap.begin(), heap.end(), Later);
    } else {
      heap.pop_back();
    }
  }
  NEPHILA_RETURN_IF_ERROR(writer.Flush());
  return lines;
}

Result<uint64_t> MergeToFile(FileSystem& fs,
                             std::span<const std::string> inputs,
                             const std::string& output) {
  NEPHILA_TRY(auto aside, AsideFile::Create(fs, output));
  LineWriter writer(aside->file());
  NEPHILA_TRY(uint64_t lines, MergeInto(fs, inputs, writer));
  NEPHILA_RETURN_IF_ERROR(aside->Commit());
  return lines;
}

// Files that are removed when this goes.
class Scratch {
 public:
  Scratch(FileSystem& fs, std::string prefix)
      : fs_(fs), prefix_(std::move(prefix)) {}
  ~Scratch() {
    for (const std::string& path : paths_) {
      IgnoreError(fs_.Remove(path), "scratch that may not have been made");
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& Name() {
    return paths_.emplace_back(
        fmt::format("{}.merge{}", prefix_, paths_.size()));
  }

 private:
  FileSystem& fs_;
  const std::string prefix_;
  std::vector<std::string> paths_;
};

}  // namespace

Result<uint64_t> MergeCdxj(FileSystem& fs,
                           const std::vector<std::string>& inputs,
                           const std::string& output) {
  Scratch scratch(fs, output);
  std::vector<std::string> round = inputs;
  while (round.size() > kMostMerged) {
    std::vector<std::string> next;
    for (size_t i = 0; i < round.size(); i += kMostMerged) {
      size_t count = std::min(kMostMerged, round.size() - i);
      std::string path = scratch.Name();
      NEPHILA_RETURN_IF_ERROR(
          MergeToFile(fs, std::span(round).subspan(i, count), path));
      next.push_back(std::move(path));
    }
    round = std::move(next);
  }
  return MergeToFile(fs, round, output);
}

CdxjSorter::~CdxjSorter() {
  for (const std::string& path : runs_) {
    IgnoreError(fs_.Remove(path), "scratch that may not have been made");
  }
}

Status CdxjSorter::Add(std::string_view line) {
  size_t needed =
      text_.size() + line.size() +
      (starts_.size() + 1) * (sizeof(size_t) + sizeof(std::string_view));
  if (needed > memory_bytes_ && !starts_.empty()) {
    NEPHILA_RETURN_IF_ERROR(Spill());
  }
  starts_.push_back(text_.size());
  text_ += line;
  return {};
}

std::vector<std::string_view> CdxjSorter::SortedLines() {
  std::vector<std::string_view> lines;
  lines.reserve(starts_.size());
  for (size_t i = 0; i < starts_.size(); ++i) {
    size_t end = i + 1 < starts_.size() ? starts_[i + 1] : text_.size();
    lines.push_back(
        std::string_view(text_).substr(starts_[i], end - starts_[i]));
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

Status CdxjSorter::Spill() {
  runs_.push_back(fmt::format("{}.run{}", output_, runs_.size()));
  NEPHILA_TRY(auto file, fs_.Open(runs_.back(), OpenMode::kCreate));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  LineWriter writer(*file);
  for (std::string_view line : SortedLines()) {
    NEPHILA_RETURN_IF_ERROR(writer.Add(line));
  }
  NEPHILA_RETURN_IF_ERROR(writer.Flush());
  text_.clear();
  starts_.clear();
  return {};
}

Result<uint64_t> CdxjSorter::Finish() {
  if (!runs_.empty()) {
    NEPHILA_RETURN_IF_ERROR(Spill());
    return MergeCdxj(fs_, runs_, output_);
  }
  NEPHILA_TRY(auto aside, AsideFile::Create(fs_, output_));
  LineWriter writer(aside->file());
  std::vector<std::string_view> lines = SortedLines();
  for (std::string_view line : lines) {
    NEPHILA_RETURN_IF_ERROR(writer.Add(line));
  }
  NEPHILA_RETURN_IF_ERROR(writer.Flush());
  NEPHILA_RETURN_IF_ERROR(aside->Commit());
  return lines.size();
}

}  // namespace nephila::store
