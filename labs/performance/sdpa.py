#!/usr/bin/env python3
"""The time of PyTorch's scaled_dot_product_attention for the table's flash row, in us, on standard output.

bf16, 16 heads of 128, 8192 tokens, causal, random inputs. Exits with 77 where there is no PyTorch or no GPU.
"""

import statistics
import sys

try:
    import torch
except ImportError:
    print("sdpa.py: PyTorch is not installed", file=sys.stderr)
    sys.exit(77)
if not torch.cuda.is_available():
    print("sdpa.py: PyTorch sees no GPU", file=sys.stderr)
    sys.exit(77)

HEADS, LENGTH, HEAD_DIM = 16, 8192, 128
WARM_UP, SAMPLES = 5, 20
q, k, v = (torch.rand(1, HEADS, LENGTH, HEAD_DIM, device="cuda").mul(2).sub(1).to(torch.bfloat16) for _ in range(3))
times = []
for sample in range(WARM_UP + SAMPLES):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    stop.record()
    stop.synchronize()
    if sample >= WARM_UP:
        times.append(1e3 * start.elapsed_time(stop))
print(f"{statistics.median(times):.3f}")
