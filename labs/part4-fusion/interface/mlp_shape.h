#pragma once

/// The sizes of a gated MLP. Gemma 3 270M: hidden 640, intermediate 2048.
struct MlpShape {
  int tokens;  ///< many in prefill, one for each sequence in decode
  int hidden;
  int intermediate;
};
