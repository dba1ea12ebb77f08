// Every figure that the papers print, held against the formulas.

#include "model/tables.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace nephila::model {
namespace {

Table Make(std::string_view name, const Parameters& parameters = {}) {
  auto table = MakeTable(name, parameters);
  EXPECT_TRUE(table.has_value()) << name;
  return table ? *std::move(table) : Table{};
}

std::string Where(const Table& table, const Figure& figure) {
  std::string text = table.name;
  for (const std::string& word : figure.where) text += "|" + word;
  return text;
}

double Computed(const Table& table, const std::string& where) {
  for (const Figure& figure : table.figures) {
    if (Where(table, figure) == where) return figure.computed;
  }
  ADD_FAILURE() << where;
  return 0;
}

TEST(Tables, EveryPrintedFigureReproducesButTheOnesNamedHere) {
  // Each has a note in its table that says why.
  const std::set<std::string> expected = {
      "drum|D_opt, TB|R = 1 GB",    "drum|D_opt, TB|R = 2 GB",
      "VII|80B|4 GB|DRUM|1.75 GB",  "VII|80B|8 GB|DRUM|1.75 GB",
      "VII|800B|4 GB|DRUM|1.75 GB", "VII|800B|8 GB|DRUM|1.75 GB",
      "beast|queues (thesis)|8B",   "beast|queues (thesis)|80B",
  };
  std::set<std::string> differ;
  for (std::string_view name : TableNames()) {
    Table table = Make(name);
    for (const Figure& figure : table.figures) {
      EXPECT_EQ(figure.where.size(), table.columns.size());
      EXPECT_FALSE(figure.equation.empty());
      EXPECT_LE(figure.note, table.notes.size());
      if (Compare(figure.printed, figure.computed) != Agreement::kDiffers) {
        continue;
      }
      differ.insert(Where(table, figure));
      EXPECT_GT(figure.note, 0u) << Where(table, figure);
    }
  }
  EXPECT_EQ(differ, expected);
}

TEST(Tables, AllPrintedFiguresAreThere) {
  const std::map<std::string, size_t> expected = {
      {"II", 15},    {"III", 20},  {"drum", 15}, {"V", 6},
      {"VI", 20},    {"VII", 20},  {"cache", 5}, {"c_opt", 0},
      {"beast", 11}, {"store", 0}, {"tiers", 0}};
  for (std::string_view name : TableNames()) {
    size_t printed = 0;
    for (const Figure& figure : Make(name).figures) {
      printed += figure.printed.empty() ? 0 : 1;
    }
    EXPECT_EQ(printed, expected.at(std::string(name))) << name;
  }
}

TEST(Tables, OnlyFewFiguresNeedTheirZerosTakenForPlaces) {
  std::vector<std::string> places;
  for (std::string_view name : TableNames()) {
    Table table = Make(name);
    for (const Figure& figure : table.figures) {
      if (Compare(figure.printed, figure.computed) == Agreement::kPlaces) {
        places.push_back(figure.printed);
      }
    }
  }
  EXPECT_EQ(places,
            (std::vector<std::string>{"50", "1000", "8000", "100", "820"}));
}

TEST(Tables, WhatTheNotesClaimIsSo) {
  Parameters changed;
  changed.disk_bytes = 4.3e12;
  EXPECT_NEAR(Computed(Make("II", changed), "II|8T|1 GB|DRUM"), 106.9, 0.05);
  changed = {};
  changed.drum.compressed_bytes = 5;
  EXPECT_NEAR(Computed(Make("II", changed), "II|8T|1 GB|Polybot"), 600729, 1);
  EXPECT_NEAR(
      Computed(Make("drum", changed), "drum|Polybot's limit / Mercator-B's|"),
      6.56, 0.005);
  changed = {};
  changed.drum.url_bytes = 100;
  Table text = Make("drum", changed);
  EXPECT_EQ(Compare("4.39", Computed(text, "drum|D_opt, TB|R = 1 GB")),
            Agreement::kDigits);
  EXPECT_EQ(Compare("17", Computed(text, "drum|D_opt, TB|R = 2 GB")),
            Agreement::kTruncated);
  changed = {};
  changed.cache.second_step = 4;
  EXPECT_NEAR(Make("VII", changed).figures[0].computed, 14251, 0.5);
  changed = {};
  changed.beast.mean_budget = 14;
  Table beast = Make("beast", changed);
  EXPECT_EQ(std::trunc(Computed(beast, "beast|queues (thesis)|8B")), 9);
  EXPECT_EQ(std::trunc(Computed(beast, "beast|queues (thesis)|80B")), 87);
}

TEST(Tables, TableSevenPrintsTheLimitWithoutU) {
  DrumParameters a;
  double alpha =
      (a.hash_bytes + a.url_bytes) / a.url_bytes + AlphaBound(Method::kDrum, a);
  double limit = DiskRate(a, alpha * 0.26, CacheParameters{}.disk_speed);
  EXPECT_EQ(Compare("18,023", limit), Agreement::kRounded);
  Table table = Make("VII");
  double at_80b = Computed(table, "VII|80B|4 GB|DRUM|1.75 GB");
  EXPECT_NEAR(at_80b / limit, 1 - 0.0005, 0.00005);
  double at_800b = Computed(table, "VII|800B|4 GB|DRUM|1.75 GB");
  EXPECT_NEAR(at_800b / limit, 1 - 0.00005, 0.000005);
}

TEST(Tables, TheOtherModelOfACacheIsNeverTheCheaper) {
  for (const Figure& figure : Make("VI").figures) {
    ASSERT_TRUE(figure.other);
    EXPECT_GT(*figure.other, figure.computed);
  }
  for (const char* name : {"VII", "c_opt"}) {
    for (const Figure& figure : Make(name).figures) {
      ASSERT_TRUE(figure.other);
      EXPECT_LE(*figure.other, figure.computed);
    }
  }
}

TEST(Tables, ChangedParametersAreNamedAndTheNotesLeftOut) {
  Parameters changed;
  changed.drum.url_bytes = 61;
  changed.pages = {8e9};
  changed.ram_bytes = {512e6, 50e6};
  Table table = Make("drum", changed);
  ASSERT_EQ(table.notes.size(), 2u);
  EXPECT_NE(table.notes[0].find("b = 61 (not 110), N = 8e+09, R = 5.12e+08"),
            std::string::npos)
      << table.notes[0];
  EXPECT_NE(table.notes[1].find("96 MB"), std::string::npos);
  for (const Figure& figure : table.figures) EXPECT_EQ(figure.note, 0u);
  EXPECT_EQ(Make("ii", changed).figures.size(), 6u);
  // A cache that takes all of R has no row.
  table = Make("VI", changed);
  EXPECT_EQ(table.figures.size(), 2u);
  EXPECT_EQ(table.notes.back(), "No row for R = 50 MB: c takes all of it.");
}

TEST(Tables, OurStoreTakesItsOwnSizes) {
  Parameters changed;
  changed.pages = {1e9};
  changed.store_disks = {8.0 * (1 << 30), 64.0 * (1 << 30)};
  changed.store.tier_growth = 2;
  Table table = Make("store", changed);
  ASSERT_EQ(table.figures.size(), 2u);
  EXPECT_EQ(table.figures[1].where[1], "64 GiB");
  EXPECT_LT(table.figures[1].computed, table.figures[0].computed);
  EXPECT_EQ(FormatTable(table).find("printed"), std::string::npos);
  // What holds for the papers' tables alone is not said of it.
  EXPECT_NE(table.notes[0].find("T = 2"), std::string::npos);
  EXPECT_EQ(Make("tiers", changed).figures.size(), 6u);
  changed.store_disks = {0};
  EXPECT_FALSE(MakeTable("store", changed));
}

TEST(Tables, WrongNamesAndValuesAreRefused) {
  EXPECT_FALSE(MakeTable("VIII", {}));
  Parameters wrong;
  wrong.drum.unique_share = 1.5;
  EXPECT_FALSE(MakeTable("II", wrong));
  wrong = {};
  wrong.ram_bytes = {0};
  EXPECT_FALSE(MakeTable("II", wrong));
  wrong = {};
  wrong.pages = {std::nan("")};
  EXPECT_FALSE(MakeTable("II", wrong));
}

TEST(Tables, EveryParameterCanBeAtBothEndsOfItsRange) {
  Parameters parameters;
  for (size_t i = 0; i < Named(&parameters).size(); ++i) {
    for (bool at_max : {false, true}) {
      Parameters changed;
      NamedParameter named = Named(&changed)[i];
      *named.value = at_max ? named.max : named.min;
      for (std::string_view name : TableNames()) {
        for (const Figure& figure : Make(name, changed).figures) {
          EXPECT_TRUE(std::isfinite(figure.computed))
              << name << ' ' << named.symbol << ' ' << at_max << ' '
              << Where(Make(name, changed), figure);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nephila::model
