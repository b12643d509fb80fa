#pragma once

#include <cublas_v2.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rooflab::performance {

/// Which sizes, and what is known of the machine.
struct Setting {
  bool small = false;                  ///< sizes that a simulated GPU computes in seconds
  cublasHandle_t cublas;               ///< on the default stream, in its default math mode: no TF32
  double copy_bytes_per_us;            ///< read and written, by cudaMemcpy on the device
  std::optional<double> sdpa_us = {};  ///< PyTorch's time of the flash row's problem
  std::map<std::string, double> peak_flops = {};  ///< of the data sheet, by type
  double dram_bytes_per_second = 0;
};

/// Takes functions in turn, `rounds` times, and gives the median time of each in us.
std::vector<double> take_turns(const std::vector<std::function<void()>>& calls, int rounds);

struct RowTimes {
  double solution_us = 0;
  std::optional<double> reference_us = {};
};

/// One line of the table, with its arrays for as long as it lives.
struct Row {
  std::string size;
  std::string reference;  ///< what it is held against, in words
  double goal = 0;        ///< reference time over the solution's
  double flops = 0;       ///< any implementation's; 0 and 0 bytes: no roofline
  std::string peak;       ///< that they run against, a key of peak_flops
  double bytes = 0;       ///< compulsory, across DRAM
  std::function<RowTimes(int rounds)> measure;
  /// After `measure`: what is wrong with the last results; empty when all is right.
  std::function<std::string()> mismatch;
};

/// Makes a row when its turn has come, since rows together need more memory than a GPU has.
using MakeRow = std::function<Row(const Setting&)>;

struct RowMaker {
  std::string name;
  std::string peak;  ///< that the GPU must have; else the row is left out
  MakeRow make;
};

std::vector<RowMaker> product_rows();
std::vector<RowMaker> memory_rows();
std::vector<RowMaker> attention_rows();
std::vector<RowMaker> graph_rows();

}  // namespace rooflab::performance
