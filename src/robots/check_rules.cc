#include "robots/check_rules.h"

#include <utility>

#include "base/bytes.h"
#include "drum/drum.h"
#include "item/stage_commit.h"
#include "robots/robots_record.h"
#include "robots/rules.h"
#include "robots/rules_log.h"

namespace nephila::robots {
namespace {

class RulesCheck {
 public:
  RulesCheck(FileSystem& fs, const std::string& dir, const DamageSink& sink)
      : fs_(fs), dir_(dir), sink_(sink) {}

  RulesCounts Run(std::string_view commit, std::set<std::string>* named) {
    ByteReader reader(commit);
    if (!reader.U8().has_value()) return counts_;
    const auto generation = reader.Varint();
    const auto queues = reader.Varint();
    if (!generation.has_value() || !queues.has_value()) return counts_;
    auto log =
        RulesLog::Open(fs_, dir_ + "/rules", RulesLog::kLeastBytes, reader);
    if (!log.has_value()) {
      sink_({dir_ + "/rules", std::nullopt, log.error().message});
      return counts_;
    }
    log_ = *std::move(log);
    CheckFiles(named);
    if (const Status status = Scan(*generation); !status) {
      sink_({dir_ + "/cache", std::nullopt, status.error().message});
    }
    return counts_;
  }

 private:
  void CheckFiles(std::set<std::string>* named) {
    for (const RulesLog::NamedFile& file : log_->files()) {
      named->insert(file.path);
      if (file.end == 0) continue;
      const auto opened = fs_.Open(file.path, OpenMode::kRead);
      if (!opened.has_value()) {
        sink_({file.path, std::nullopt, opened.error().message});
        continue;
      }
      const auto size = (*opened)->Size();
      if (!size.has_value()) {
        sink_({file.path, std::nullopt, size.error().message});
      } else if (*size < file.end) {
        sink_({file.path, *size,
               "ends here, and a commit has seen " + std::to_string(file.end) +
                   " bytes"});
      }
    }
  }

  Status Scan(uint64_t generation) {
    NEPHILA_TRY(const auto scan,
                drum::ScanCommit(fs_, dir_ + "/cache", generation, {}));
    while (!scan->AtEnd()) {
      Check(scan->key(), scan->value());
      NEPHILA_RETURN_IF_ERROR(scan->Next());
    }
    return {};
  }

  void Check(uint64_t key, std::string_view value) {
    ++counts_.records;
    const auto host = ReadHostRecord(value);
    const std::string name = "the record of key " + std::to_string(key);
    if (!host) {
      sink_({dir_ + "/cache", std::nullopt, name + " makes no sense"});
      return;
    }
    for (const HostRecord::File& file : host->files) {
      CheckFile(key, file.record, name);
    }
  }

  void CheckFile(uint64_t key, const RobotsRecord& record,
                 const std::string& name) {
    if (record.kind == RulesKind::kNone) return;
    if (record.kind == RulesKind::kInline) {
      return CheckRulesOf(record.rules, dir_ + "/cache", std::nullopt, name);
    }
    ++counts_.in_log;
    const auto rules = log_->Read(key, record.place);
    if (rules.has_value()) {
      return CheckRulesOf(*rules, dir_ + "/rules", record.place.offset, name);
    }
    if (rules.error().code == ErrorCode::kNotFound) {
      ++counts_.forgotten;
      return;
    }
    std::string path = dir_ + "/rules";
    for (const RulesLog::NamedFile& file : log_->files()) {
      if (rules.error().message.find(file.path) != std::string::npos) {
        path = file.path;
      }
    }
    sink_({path, record.place.offset, name + ": " + rules.error().message});
  }

  void CheckRulesOf(std::string_view bytes, const std::string& path,
                    std::optional<uint64_t> offset, const std::string& name) {
    if (const auto rules = Rules::Open(bytes); !rules.has_value()) {
      sink_({path, offset, name + ": " + rules.error().message});
    }
  }

  FileSystem& fs_;
  const std::string& dir_;
  const DamageSink& sink_;
  std::unique_ptr<RulesLog> log_;
  RulesCounts counts_;
};

}  // namespace

RulesCounts CheckRules(FileSystem& fs, const std::string& dir,
                       std::string_view commit, const DamageSink& sink,
                       std::set<std::string>* named) {
  return RulesCheck(fs, dir, sink).Run(commit, named);
}

}  // namespace nephila::robots
