// The reference of all settings, made from the table and so never out of date.
//
// ReferenceMarkdown() is docs/config.md to the byte, and a test compares them;
// ReferenceText() says the same on a terminal of 80 columns.
#pragma once

#include <string>

#include "config/table.h"

namespace nephila::config {

std::string ReferenceMarkdown();
std::string ReferenceText();

// The parts that depend on the table, for any table.
std::string MarkdownTables(const Table& table);
std::string TextTables(const Table& table);

}  // namespace nephila::config
