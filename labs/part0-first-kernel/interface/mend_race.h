#pragma once

/// How many elements a piece has. One block of threads reverses one piece.
constexpr int kPiece = 256;

/// Reverses each piece of x: y[p * kPiece + i] = x[p * kPiece + kPiece - 1 - i], for each piece
/// p and i = 0 ... kPiece - 1.
///
/// x and y are device pointers to pieces * kPiece floats each; pieces is at least 1. y holds
/// garbage before the call: write every element of it, read none.
void reverse_pieces(const float* x, float* y, int pieces);
