// What tables.cc is made of; for the files of this folder only.
#pragma once

#include <initializer_list>
#include <vector>

#include "model/tables.h"

namespace nephila::model {

// A figure of a table over N, R and method as it is printed.
struct Printed {
  double pages;
  double ram_bytes;
  Method method;
  const char* text;
};

// What is printed at that point, or "".
std::string FindPrinted(std::span<const Printed> all, double pages,
                        double ram_bytes, Method method);

// The given values, or the paper's if none are given.
std::vector<double> Or(const std::vector<double>& given,
                       std::initializer_list<double> papers);

// N of tables II, III, VI and VII.
std::vector<double> PagesOf(const Parameters& parameters);

Table MakeTable2(const Parameters& parameters);
Table MakeTable3(const Parameters& parameters);
Table MakeDrumText(const Parameters& parameters);
Table MakeTable5(const Parameters& parameters);
Table MakeTable6(const Parameters& parameters);
Table MakeTable7(const Parameters& parameters);
Table MakeCacheText(const Parameters& parameters);
Table MakeCacheChoice(const Parameters& parameters);
Table MakeBeast(const Parameters& parameters);
Table MakeStore(const Parameters& parameters);
Table MakeTiers(const Parameters& parameters);

}  // namespace nephila::model
