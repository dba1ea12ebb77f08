#include "model/table.h"

#include <gtest/gtest.h>

namespace nephila::model {
namespace {

TEST(Table, AgreementIsDecidedByTheDigitsPrinted) {
  EXPECT_EQ(Compare("", 1), Agreement::kNothingPrinted);
  EXPECT_EQ(Compare("11.6", 11.614), Agreement::kDigits);
  EXPECT_EQ(Compare("69", 68.71), Agreement::kRounded);
  EXPECT_EQ(Compare("93", 93.9996), Agreement::kTruncated);
  EXPECT_EQ(Compare("2,290", 2290.68), Agreement::kTruncated);
  EXPECT_EQ(Compare("2.30", 2.3033), Agreement::kDigits);
  EXPECT_EQ(Compare("2.30", 2.3133), Agreement::kDiffers);
  EXPECT_EQ(Compare("820", 826.67), Agreement::kPlaces);
  EXPECT_EQ(Compare("1000", 976.6), Agreement::kPlaces);
  EXPECT_EQ(Compare("1000", 1500), Agreement::kPlaces);
  EXPECT_EQ(Compare("1000", 2000), Agreement::kDiffers);
  EXPECT_EQ(Compare("18,023", 18014.4), Agreement::kDiffers);
  EXPECT_EQ(Compare("0", 5), Agreement::kDiffers);
  EXPECT_EQ(Compare("5", 4.4), Agreement::kDiffers);
}

TEST(Table, PrintedFiguresAreReadWithTheirCommas) {
  EXPECT_EQ(PrintedValue("660,802"), 660802);
  EXPECT_EQ(PrintedValue("13.9"), 13.9);
  EXPECT_EQ(PrintedValue(""), std::nullopt);
  EXPECT_EQ(PrintedValue("12x"), std::nullopt);
}

TEST(Table, NumbersAreShort) {
  EXPECT_EQ(FormatPages(8e8), "800M");
  EXPECT_EQ(FormatPages(8e12), "8T");
  EXPECT_EQ(FormatPages(7), "7");
  EXPECT_EQ(FormatBytes(4e9), "4 GB");
  EXPECT_EQ(FormatBytes(256e3), "256 kB");
  EXPECT_EQ(FormatValue(2.26720), "2.2672");
  EXPECT_EQ(FormatValue(660802.63), "660802.6");
  EXPECT_EQ(FormatValue(1e13), "1e+13");
}

TEST(Table, TheTextIsAlignedMarkdownWithNotesBelow) {
  Table table{"T", "a title", {"N"}, "other"};
  table.figures = {{{"800M"}, "(1)", 11.614, "11.6"},
                   {{"8B"}, "(2)", 5, "4", 7.0, 1}};
  table.notes = {"why"};
  EXPECT_EQ(FormatTable(table),
            "T: a title\n\n"
            "| N    | eq. | computed | printed | difference | as          | "
            "other  |\n"
            "| ---- | --- | -------- | ------- | ---------- | ----------- | "
            "------ |\n"
            "| 800M | (1) | 11.6140  | 11.6    | +0.12 %    | same        | "
            "       |\n"
            "| 8B   | (2) | 5.0000   | 4       | +25.00 %   | differs [1] | "
            "7.0000 |\n"
            "\n[1] why\n");
}

}  // namespace
}  // namespace nephila::model
