// Dense switches, loops with breaks, templates and inlined calls three deep.
template <int kFactor>
__device__ float scale(float x) {
  return x * kFactor;
}
__device__ float twice(float x) { return scale<2>(x) + scale<3>(x); }

__global__ void choose(const int* codes, float* out) {
  const int i = threadIdx.x;
  float x = out[i];
  switch (codes[i]) {
    case 0:
      x = twice(x);
      break;
    case 1:
      x = x * x - 3.0f;
      out[i + 1] = x;
      break;
    case 2:
      x = sqrtf(x);
      out[i + 2] = 1.0f / x;
      break;
    case 3:
      x = __sinf(x);
      out[i + 7] = x + 2;
      break;
    case 4:
      x = __powf(x, 3.3f);
      break;
    case 5:
      x = rsqrtf(x);
      out[i + 9] = 4;
      break;
    case 6:
      x = x / (1.0f + x);
      break;
    case 7:
      x = floorf(x) + out[i + 3];
      break;
    case 8:
      x = log2f(x);
      break;
    case 9:
      x = tanhf(x);
      break;
    default:
      x = -x;
  }
  for (int k = 0; k < codes[i]; ++k) {
    x += out[k];
    if (x > 100.0f) break;
  }
  out[i] = x;
}

template <typename T, int kWidth>
__global__ void fill(T* out, T value) {
  for (int i = threadIdx.x; i < kWidth; i += blockDim.x) out[i] = value;
}
template __global__ void fill<float, 64>(float*, float);
template __global__ void fill<double, 128>(double*, double);
template __global__ void fill<unsigned char, 32>(unsigned char*, unsigned char);
