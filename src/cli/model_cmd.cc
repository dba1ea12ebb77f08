#include "cli/model_cmd.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace nephila::cli {
namespace {

void PrintJson(const model::Table& table, std::ostream& out) {
  for (const model::Figure& figure : table.figures) {
    nlohmann::ordered_json line;
    line["table"] = table.name;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      line[table.columns[i]] = figure.where[i];
    }
    line["equation"] = figure.equation;
    line["computed"] = figure.computed;
    line["printed"] = nullptr;
    if (auto printed = model::PrintedValue(figure.printed)) {
      line["printed"] = *printed;
      line["difference"] = figure.computed - *printed;
      line["as"] =
          model::AgreementName(model::Compare(figure.printed, figure.computed));
    }
    if (figure.other) line[table.other_name] = *figure.other;
    if (figure.note != 0) line["note"] = figure.note;
    out << line.dump() << '\n';
  }
  for (size_t i = 0; i < table.notes.size(); ++i) {
    nlohmann::ordered_json line;
    line["table"] = table.name;
    line["note"] = i + 1;
    line["text"] = table.notes[i];
    out << line.dump() << '\n';
  }
}

}  // namespace

Status RunModel(const ModelOptions& options, std::ostream& out) {
  std::vector<std::string> names = options.tables;
  if (names.empty()) {
    names.assign(model::TableNames().begin(), model::TableNames().end());
  }
  // All of them first: a wrong word prints nothing.
  std::vector<model::Table> tables;
  for (const std::string& name : names) {
    NEPHILA_TRY(model::Table table, model::MakeTable(name, options.parameters));
    tables.push_back(std::move(table));
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (options.json) {
      PrintJson(tables[i], out);
    } else {
      out << (i == 0 ? "" : "\n") << model::FormatTable(tables[i]);
    }
  }
  return {};
}

}  // namespace nephila::cli
