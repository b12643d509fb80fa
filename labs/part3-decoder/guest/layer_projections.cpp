#include "layer_call.h"
#include "layer_steps.h"

ROOFLAB_ENTRY(layer_projections) {
  using namespace rooflab;
  const LayerShape shape = shape_of(call);
  const int batch = size(call, "batch"), length = size(call, "length");
  Workspace workspace = kept_workspace(call, workspace_bytes(shape, batch * length));
  const cudaStream_t stream = stream_of(call);
  const auto& cublas = call.kept<CublasHandle>("cuBLAS", stream);
  const LayerContext context = {cublas.get(), stream, workspace};
  const auto weights = weights_of<float>(call);
  const Projections<float> out = {call.tensor<float>("q"), call.tensor<float>("k"),
                                  call.tensor<float>("v")};
  layer_projections(context, shape, weights, call.tensor<const float>("hidden"),
                    call.tensor<const int>("positions"), batch, length, out);
}
