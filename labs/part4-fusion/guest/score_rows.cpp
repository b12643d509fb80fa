#include "score_rows.h"

#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "parameters.h"

namespace {

/// Room for three arrays of (rows, width).
std::size_t workspace_bytes(const ScoreShape& shape) {
  constexpr std::size_t kArrays = 3, kAlignment = 256;
  const std::size_t bytes =
      sizeof(float) * static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.width);
  return kArrays * (bytes + kAlignment);
}

}  // namespace

ROOFLAB_ENTRY(score_rows) {
  using namespace rooflab;
  const ScoreShape shape = {size(call, "rows"), size(call, "hidden"), size(call, "width")};
  Workspace workspace = kept_workspace(call, workspace_bytes(shape));
  const auto& cublas = call.kept<CublasHandle>("cuBLAS");
  const LentHandle lent(cublas.get());
  score_rows({cublas.get(), stream_of(call), workspace}, call.tensor<const float>("x"),
             call.tensor<const float>("weight"), call.tensor<const float>("reference"),
             call.tensor<float>("scores"), shape);
  pass_on_kept(call, workspace);
  lent.pass_on_changes(call, stream_of(call));
}
