#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// The operations of toolkit/eager/pointwise.h that see an array as rows. What is said there holds
/// here; sizes are 64 bits wide, since rows * width may be more than 2^31.
namespace rooflab::eager {

/// mean[r] = sum over i of x[r][i] / width, summed in fp32
///
///   x: (rows, width)   mean: (rows), another array than x
template <typename T>
void mean_of_rows(const T* x, T* mean, std::int64_t rows, std::int64_t width, cudaStream_t stream);

/// y[r][i] = exp(x[r][i] - m) / sum over j of exp(x[r][j] - m), m the largest element of the row;
/// exponentials and their sum are fp32. An element of -infinity gives 0.
///
///   x, y: (rows, width)   each row has an element above -infinity
template <typename T>
void softmax_of_rows(const T* x, T* y, std::int64_t rows, std::int64_t width, cudaStream_t stream);

/// y[r][i] = x[r][i] * factor[r]
///
///   x, y: (rows, width)   factor: (rows)
template <typename T>
void multiply_rows(const T* x, const T* factor, T* y, std::int64_t rows, std::int64_t width,
                   cudaStream_t stream);

/// y[r][i] = x[r][i] * factor[i]
///
///   x, y: (rows, width)   factor: (width)
template <typename T>
void multiply_columns(const T* x, const T* factor, T* y, std::int64_t rows, std::int64_t width,
                      cudaStream_t stream);

/// The halves of each row change places, and the one that comes first is negated: y[r] is
/// (-x[r][h], ..., -x[r][2h - 1], x[r][0], ..., x[r][h - 1]).
///
///   x, y: (rows, 2h = width), width even; y is another array than x
template <typename T>
void rotate_half(const T* x, T* y, std::int64_t rows, std::int64_t width, cudaStream_t stream);

/// y[r] = table[index[r]]
///
///   table: (any number of rows, width)   index: (rows), in device memory   y: (rows, width)
template <typename T>
void select_rows(const T* table, const int* index, T* y, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream);

/// y[r][i] = x[r][i] for i <= *last, and -infinity behind: keys that a token at position *last does
/// not see.
///
///   x, y: (rows, width)   last: one number in device memory
template <typename T>
void hide_behind(const T* x, const int* last, T* y, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream);

}  // namespace rooflab::eager
