#include "fault.h"

/// Vectors, words and pairs of which a part has been written. The part that has may be used.
namespace {

/// Rows of `count` floats lie `pitch` apart; nothing writes what lies between.
__global__ void fill_rows(float* rows, int count, int pitch) {
  for (int i = 0; i < count; ++i) rows[threadIdx.x * pitch + i] = static_cast<float>(i + 1);
}
__global__ void end_of_a_row(const float* rows, float* sums, int count, int pitch) {
  float sum = 0;
  for (int i = 0; i < count; i += 4) {
    // FAULT end_of_a_row RL0205 uninitialized-read
    const float4 v = *reinterpret_cast<const float4*>(rows + threadIdx.x * pitch + i);
    sum += v.x;
    if (i + 1 < count) sum += v.y;
    if (i + 2 < count) sum += v.z;
    if (i + 3 < count) sum += v.w;
  }
  sums[threadIdx.x] = sum;
}

__global__ void fill_bytes(unsigned char* bytes, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 4 < count) bytes[i] = static_cast<unsigned char>(i);
}
/// The last channel of a pixel is there for alignment.
__global__ void channel_of_a_pixel(const uchar4* pixels, int* out, int channels) {
  // FAULT channel_of_a_pixel RL0205 uninitialized-read
  const uchar4 pixel = pixels[threadIdx.x];
  int sum = pixel.x + pixel.y;
  if (channels > 2) sum += pixel.z;
  if (channels > 3) sum += pixel.w;
  out[threadIdx.x] = sum;
}

__global__ void vector_of_a_tile(const float* in, float* out, int count, int used) {
  __shared__ alignas(16) float tile[128];
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < count; ++k) tile[4 * i + k] = in[i];
  __syncthreads();
  // FAULT vector_of_a_tile RL0206 uninitialized-read
  const float4 v = reinterpret_cast<const float4*>(tile)[31 - i];
  const float parts[4] = {v.x, v.y, v.z, v.w};
  float most = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (k < used) most = fmaxf(most, parts[k]);
  }
  out[i] = most;
}

/// nvcc loads four elements of such an array at once, before it knows how many are needed.
__global__ void scores_of_a_row(const float* in, const float* values, float* out, int first,
                                int end, int width, int left_out) {
  float scores[1024];
  float sum = 0;
  for (int j = first; j < end; ++j) {
    if (j == left_out) continue;
    scores[j - first] = expf(in[j]);
    sum += scores[j - first];
  }
  for (int d = 0; d < width; ++d) {
    float all = 0;
    // FAULT scores_of_a_row RL0208 uninitialized-read
    for (int j = first; j < end; ++j) all += scores[j - first] * values[j * width + d];
    out[d] = all / sum;
  }
}

/// Two 16-bit numbers in a register: each half by itself.
__global__ void half_of_a_pair(const ushort2* pairs, unsigned* out, int members) {
  // FAULT half_of_a_pair RL0205 uninitialized-read
  const ushort2 pair = pairs[threadIdx.x];
  out[threadIdx.x] = members > 1 ? pair.x * pair.y : pair.x + 1U;
}

const std::vector<Fault> faults{
    {"end_of_a_row",
     [](bool wrong) {
       float* rows = unwritten<float>(32 * 8);
       fill_rows<<<1, 32>>>(rows, 5, 8);
       end_of_a_row<<<1, 32>>>(rows, zeros<float>(32), 5 + wrong, 8);
     }},
    {"channel_of_a_pixel",
     [](bool wrong) {
       auto* pixels = unwritten<uchar4>(32);
       fill_bytes<<<1, 128>>>(reinterpret_cast<unsigned char*>(pixels), 3);
       channel_of_a_pixel<<<1, 32>>>(pixels, zeros<int>(32), 3 + wrong);
     }},
    {"vector_of_a_tile",
     [](bool wrong) {
       vector_of_a_tile<<<1, 32>>>(zeros<float>(32), zeros<float>(32), 3, 3 + wrong);
     }},
    {"scores_of_a_row",
     [](bool wrong) {
       float* values = unwritten<float>(512);
       fill_rows<<<1, 1>>>(values, 512, 512);
       scores_of_a_row<<<1, 1>>>(zeros<float>(64), values, zeros<float>(8), 0, 2, 8,
                                 wrong ? 1 : -1);
     }},
    {"half_of_a_pair",
     [](bool wrong) {
       auto* pairs = unwritten<ushort2>(32);
       fill_bytes<<<1, 128>>>(reinterpret_cast<unsigned char*>(pairs), 2);
       half_of_a_pair<<<1, 32>>>(pairs, zeros<unsigned>(32), 1 + wrong);
     }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
