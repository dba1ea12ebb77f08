#include "base/table_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace nephila {
namespace {

TEST(TableHash, EveryTableHasAnotherSeed) {
  const TableHash first;
  const TableHash second;
  EXPECT_NE(first.seed, second.seed);
  EXPECT_NE(first("example.com"), second("example.com"));
  EXPECT_EQ(first("example.com"), first("example.com"));
}

TEST(TableHash, AGivenSeedGivesTheSameValues) {
  EXPECT_EQ(TableHash(7)("example.com"), TableHash(7)("example.com"));
  EXPECT_NE(TableHash(7)("example.com"), TableHash(8)("example.com"));
}

TEST(TableHash, TablesAreSearchedWithoutACopy) {
  std::unordered_map<std::string, int, TableHash, std::equal_to<>> table;
  table["a"] = 1;
  EXPECT_EQ(table.find(std::string_view("a"))->second, 1);
}

}  // namespace
}  // namespace nephila
