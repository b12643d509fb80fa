#pragma once

#include <cuda_runtime.h>

#include "toolkit/eager/decoder.h"

/// Decodes `steps` tokens of each sequence, one after the other, with a CUDA graph: the kernels of
/// one step are captured once, and every step replays them with one cudaGraphLaunch.
///
///   inputs: (steps, batch, hidden)   outputs: the same shape
///   positions: (steps), where in the text each token stands
///
/// All three are in device memory, aligned to 256 bytes, and have fewer than 2^31 bytes. For each
/// step i in order, the layer reads inputs[i] and positions[i], and its result goes to outputs[i].
/// A graph replays what was captured, with the addresses that were captured: `step` reads its token
/// from step.input() and its position from step.position(), which you fill before each replay, and
/// writes step.output(), which you copy away after it. The layer's cache holds everything before
/// positions[0]; run nothing that would put other tokens into it.
///
/// `stream` is not the default stream, which cannot be captured. Everything runs on it, and the
/// function returns without waiting for it or asking whether it is done. It captures and
/// instantiates once, whatever `steps` is, launches no step's kernels one by one, and destroys what
/// it has created. T is float or __half.
template <typename T>
void decode_steps(rooflab::eager::DecodeStep<T>& step, const T* inputs, const int* positions,
                  T* outputs, int steps, cudaStream_t stream);
