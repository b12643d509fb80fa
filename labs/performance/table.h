#pragma once

#include <optional>
#include <string>
#include <vector>

#include "performance/row.h"

namespace rooflab::performance {

/// A row with its times.
struct Line {
  std::string name;
  std::string size;
  std::string reference;
  double goal = 0;
  RowTimes times;
  std::optional<double> roofline_us = {};
  std::string mismatch;  ///< what is wrong with the results; empty: nothing
  std::string left_out;  ///< why there are no times
};

struct Table {
  std::string device;
  std::string gpu;        ///< id of the specification that rooflines go by
  std::string time_kind;  ///< "measured" or "modelled"
  bool small = false;
  std::string versions;  ///< of driver, runtime and cuBLAS
  double copy_gb_per_second = 0;
  std::vector<Line> lines = {};
};

/// Reference time over the solution's; nothing where there is no reference, or the result is wrong.
std::optional<double> ratio_of(const Line& line);

/// For people. A wrong result shows no time: it is not fast.
std::string text_of(const Table& table);

/// The same as a document, schema 1.
std::string json_of(const Table& table);

}  // namespace rooflab::performance
