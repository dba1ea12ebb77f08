#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "cli/file_limit.h"
#include "cli/job_files.h"
#include "cli/temporary_folder.h"
#include "cli/why_cmd.h"
#include "inspect/job_view.h"
#include "inspect/url_list.h"
#include "item/fetch_outcome.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;

class ListPrinter {
 public:
  ListPrinter(const ListCmdOptions& options, std::ostream& out)
      : options_(options), out_(out) {}

  // Whether more is wanted.
  bool Print(const inspect::EndedUrl& url) {
    const std::string_view outcome = item::FetchOutcomeName(url.outcome);
    if (options_.json) {
      Json line;
      line["url"] = url.url;
      line["outcome"] = outcome;
      line["status"] = url.status;
      line["attempts"] = url.attempt;
      line["when"] = url.when;
      return PrintLine(Dump(line));
    }
    return PrintLine(
        EscapeForTerminal(fmt::format("{} {} {} {} {}", url.when, outcome,
                                      url.status, url.attempt, url.url)));
  }

  bool Print(const inspect::HeldUrl& url) {
    const std::string due = url.due ? FormatUtc(*url.due) : "-";
    if (options_.json) {
      Json line;
      line["url"] = url.record.url;
      line["stage"] = inspect::StageOf(url.where);
      line["where"] = inspect::HeldInName(url.where);
      line["due"] = url.due ? Json(due) : Json(nullptr);
      line["ahead"] = url.ahead;
      if (url.queue) line["queue"] = *url.queue;
      line["attempts"] = url.record.attempts;
      line["depth"] = url.record.depth;
      return PrintLine(Dump(line));
    }
    return PrintLine(EscapeForTerminal(fmt::format(
        "{} {} {}", inspect::HeldInName(url.where), due, url.record.url)));
  }

  uint64_t printed() const { return printed_; }
  bool is_full() const {
    return options_.limit > 0 && printed_ >= options_.limit;
  }

 private:
  static std::string Dump(const Json& json) {
    // What is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
  }

  bool PrintLine(const std::string& line) {
    out_ << line << '\n';
    ++printed_;
    return !is_full() && out_.good();
  }

  const ListCmdOptions& options_;
  std::ostream& out_;
  uint64_t printed_ = 0;
};

enum class What : uint8_t { kSeen, kFailed, kWaiting };

Unexpected<Error> WrongLine(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Result<What> WhatOf(const ListCmdOptions& options) {
  if (options.words.size() != 1) {
    return WrongLine("list: one of seen, failed and waiting");
  }
  const std::string& word = options.words[0];
  if (options.waiting && word != "seen") {
    return WrongLine("list: --waiting is for list seen");
  }
  if (word == "seen") return What::kSeen;
  if (word == "failed") return What::kFailed;
  if (word == "waiting") return What::kWaiting;
  return WrongLine("list " + EscapeForTerminal(word) +
                   ": one of seen, failed and waiting");
}

Status List(inspect::JobView& job, What what,
            const inspect::ListOptions& options, bool waiting,
            ListPrinter* printer) {
  const auto print = [printer](const auto& url) -> Result<bool> {
    return printer->Print(url);
  };
  if (what == What::kFailed) return ListFailed(job, options, print);
  if (what == What::kSeen) {
    NEPHILA_RETURN_IF_ERROR(ListSeen(job, options, print));
    if (!waiting || printer->is_full()) return {};
  }
  return ListWaiting(job, options.filter, print);
}

// A host as the crawl knows it; "" for none.
Result<std::string> HostNamed(const std::string& word, inspect::JobView& job) {
  if (word.empty()) return std::string();
  const auto url =
      job.canonicalizer().Canonicalize("http://" + word + "/", nullptr);
  if (url.has_value()) return std::string(url->host);
  return Unexpected(Error{ErrorCode::kInvalidArgument,
                          EscapeForTerminal(word) + ": no name of a host"});
}

}  // namespace

Status RunList(const Setup& setup, const ListCmdOptions& options,
               std::ostream& out) {
  NEPHILA_TRY(const What what, WhatOf(options));
  const auto fs = OpenJobFiles(options.job, setup.settings);
  // Each run of a sort is a file.
  RaiseFileLimit();
  inspect::ListOptions list;
  NEPHILA_TRY(list.memory_bytes, ParseSize(options.memory));
  NEPHILA_TRY(const auto folder, TemporaryFolder::Make(options.scratch));
  list.scratch = folder->path();
  ListPrinter printer(options, out);
  return inspect::LookAt(
      *fs, {options.job, setup.settings}, [&](inspect::JobView& job) -> Status {
        if (printer.printed() > 0) {
          // What was printed cannot be taken back.
          return Unexpected(Error{
              ErrorCode::kBusy,
              EscapeForTerminal(options.job) +
                  ": the crawl went on while its files were read, and the "
                  "list is not whole; pause or stop it first"});
        }
        NEPHILA_TRY(list.filter.host, HostNamed(options.host, job));
        NEPHILA_TRY(list.filter.domain, HostNamed(options.domain, job));
        return List(job, what, list, options.waiting, &printer);
      });
}

}  // namespace nephila::cli
