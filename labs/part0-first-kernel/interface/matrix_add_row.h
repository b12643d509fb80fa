#pragma once

/// y[r][c] = x[r][c] + row[c]: adds one row of numbers to every row of a matrix.
///
/// x and y are matrices of `rows` x `columns` floats, row by row without gaps: element (r, c) is at
/// index r * columns + c; row has `columns` floats. All three are device pointers. rows
/// and columns are at least 1 and need not be multiples of anything; a matrix has fewer than 2^31
/// elements. y holds garbage before the call: write every element of it, read none. Launch on the
/// default stream; there is no need to wait.
void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns);
