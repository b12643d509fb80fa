#include "peaks.h"

#include <stdexcept>

#include "grader/contract/guest_call.h"

ROOFLAB_ENTRY(peaks) {
  const std::string& function = call.text("function");
  if (function == "fma_peak") {
    fma_peak(call.tensor<const float>("in"), call.tensor<float>("out"), call.integer("n"),
             call.integer("steps"), static_cast<float>(call.real("a")),
             static_cast<float>(call.real("b")));
  } else if (function == "sum_chunks") {
    sum_chunks(call.tensor<const float>("in"), call.tensor<float>("sums"), call.integer("n"));
  } else {
    throw std::invalid_argument("part.toml names no such function: " + function);
  }
}
