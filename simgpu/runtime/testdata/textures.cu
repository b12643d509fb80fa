// Arrays, textures and surfaces, against what the formulas of the programming guide give.
#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

__global__ void fetch_1d(cudaTextureObject_t texture, int first, int count, float* out) {
  for (int i = 0; i < count; ++i) out[i] = tex1Dfetch<float>(texture, first + i);
}
__global__ void fetch_ints(cudaTextureObject_t texture, int4* out) {
  out[threadIdx.x] = tex1Dfetch<int4>(texture, static_cast<int>(threadIdx.x));
}
/// Point i of a grid of steps of `step` from `first` on, in both directions.
__global__ void fetch_2d(cudaTextureObject_t texture, float first, float step, int side,
                         float* out) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  out[y * side + x] = tex2D<float>(texture, first + step * static_cast<float>(x),
                                   first + step * static_cast<float>(y));
}
__global__ void fetch_colours(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, static_cast<float>(threadIdx.x % 2) + 0.5f,
                                   static_cast<float>(threadIdx.x / 2) + 0.5f);
}
template <typename Texel>
__global__ void fetch_outside(cudaTextureObject_t texture, Texel* out) {
  *out = tex2D<Texel>(texture, 9.5f, 0.5f);
}
__global__ void fetch_3d(cudaTextureObject_t texture, float3 at, float* out) {
  *out = tex3D<float>(texture, at.x, at.y, at.z);
}
__global__ void fetch_layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 1.5f, 0.5f, static_cast<int>(threadIdx.x));
}
__global__ void fetch_cube(cudaTextureObject_t texture, const float3* directions, float* out) {
  const float3 to = directions[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(texture, to.x, to.y, to.z);
}
__global__ void write_surface(cudaSurfaceObject_t surface, int width) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  if (x < width) surf2Dwrite(100 * y + x, surface, x * static_cast<int>(sizeof(int)), y);
}
__global__ void read_surface(cudaSurfaceObject_t surface, int* out) {
  out[0] = surf2Dread<int>(surface, 4, 1);
  out[1] = surf2Dread<int>(surface, 400, 1, cudaBoundaryModeZero);
  out[2] = surf2Dread<int>(surface, 400, 7, cudaBoundaryModeClamp);
  surf2Dwrite(1, surface, 400, 1, cudaBoundaryModeZero);
}
__global__ void write_outside(cudaSurfaceObject_t surface) { surf2Dwrite(1, surface, 40000, 0); }

template <typename T>
std::vector<T> taken(const T* device, size_t count) {
  std::vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}
template <typename T>
T* given(const std::vector<T>& host) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}
cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

void read_linear_memory() {
  std::vector<float> values(100);
  for (int i = 0; i < 100; ++i) values[i] = static_cast<float>(i * i);
  float *device = given(values), *out = given(std::vector<float>(8));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 100 * sizeof(float);
  const cudaTextureObject_t texture = texture_of(resource, {});
  fetch_1d<<<1, 1>>>(texture, 96, 8, out);
  const std::vector<float> back = taken(out, 8);
  for (int i = 0; i < 8; ++i) EXPECT(back[i] == (i < 4 ? values[96 + i] : 0));
  cudaResourceDesc known;
  CHECK(cudaGetTextureObjectResourceDesc(&known, texture));
  EXPECT(known.res.linear.devPtr == device);
  CHECK(cudaDestroyTextureObject(texture));
  EXPECT_ERROR(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);

  // Integers stay as they are; an element's missing channels are 0.
  resource.res.linear.desc = cudaCreateChannelDesc<short2>();
  const std::vector<short2> pairs{{-3, 7}, {32767, -32768}};
  short2* shorts = given(pairs);
  int4* ints = given(std::vector<int4>(2));
  resource.res.linear.devPtr = shorts;
  resource.res.linear.sizeInBytes = 2 * sizeof(short2);
  const cudaTextureObject_t of_ints = texture_of(resource, {});
  fetch_ints<<<1, 2>>>(of_ints, ints);
  const std::vector<int4> whole = taken(ints, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT(whole[i].x == pairs[i].x && whole[i].y == pairs[i].y);
    EXPECT(whole[i].z == 0 && whole[i].w == 0);
  }
  CHECK(cudaDestroyTextureObject(of_ints));
  for (void* memory : {static_cast<void*>(device), static_cast<void*>(out),
                       static_cast<void*>(shorts), static_cast<void*>(ints)}) {
    CHECK(cudaFree(memory));
  }
}

/// Element (x, y) of an image with what lies around it.
double element(const std::vector<float>& image, int side, int x, int y,
               cudaTextureAddressMode mode) {
  const auto fold = [&](int at) {
    if (mode == cudaAddressModeClamp) return at < 0 ? 0 : at >= side ? side - 1 : at;
    if (mode == cudaAddressModeWrap) return ((at % side) + side) % side;
    if (mode == cudaAddressModeMirror) {
      const int place = ((at % (2 * side)) + 2 * side) % (2 * side);
      return place < side ? place : 2 * side - 1 - place;
    }
    return at < 0 || at >= side ? -1 : at;
  };
  const int column = fold(x), row = fold(y);
  return column < 0 || row < 0 ? 0.25 : image[row * side + column];
}

double interpolated(const std::vector<float>& image, int side, double x, double y,
                    cudaTextureAddressMode mode, bool linear) {
  if (!linear) {
    return element(image, side, static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)),
                   mode);
  }
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const double a = x - 0.5 - left, b = y - 0.5 - top;
  const int i = static_cast<int>(left), j = static_cast<int>(top);
  return (1 - a) * (1 - b) * element(image, side, i, j, mode) +
         a * (1 - b) * element(image, side, i + 1, j, mode) +
         (1 - a) * b * element(image, side, i, j + 1, mode) +
         a * b * element(image, side, i + 1, j + 1, mode);
}

/// Every address mode and filter, from an array and from pitched memory.
void read_images() {
  const int side = 8, steps = 48;
  std::vector<float> image(side * side);
  for (int i = 0; i < side * side; ++i) image[i] = static_cast<float>((i * 37) % 64);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, side, side));
  const size_t row = side * sizeof(float);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), row, row, side, cudaMemcpyHostToDevice));
  float *pitched = nullptr, *out = given(std::vector<float>(steps * steps));
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&pitched, &pitch, row, side));
  CHECK(cudaMemcpy2D(pitched, pitch, image.data(), row, row, side, cudaMemcpyHostToDevice));
  cudaResourceDesc in_rows = {};
  in_rows.resType = cudaResourceTypePitch2D;
  in_rows.res.pitch2D.devPtr = pitched;
  in_rows.res.pitch2D.desc = format;
  in_rows.res.pitch2D.width = in_rows.res.pitch2D.height = side;
  in_rows.res.pitch2D.pitchInBytes = pitch;
  for (const auto mode :
       {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror}) {
    for (const bool linear : {false, true}) {
      for (const bool normalized : {false, true}) {
        for (const cudaResourceDesc& resource : {resource_of(array), in_rows}) {
          cudaTextureDesc how = {};
          how.addressMode[0] = how.addressMode[1] = mode;
          how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
          how.normalizedCoords = normalized ? 1 : 0;
          how.borderColor[0] = 0.25f;
          const cudaTextureObject_t texture = texture_of(resource, how);
          // Steps of 7/16 of an element: exact, and weights of 8 bits are too.
          const float unit = normalized ? 1.0f / side : 1.0f;
          const float first = -5.0f, step = 0.4375f;
          fetch_2d<<<steps, steps>>>(texture, first * unit, step * unit, steps, out);
          const std::vector<float> back = taken(out, steps * steps);
          const bool folds = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
          const auto effective = folds && !normalized ? cudaAddressModeClamp : mode;
          for (int i = 0; i < steps * steps; ++i) {
            const double expected = interpolated(image, side, first + step * (i % steps),
                                                 first + step * (i / steps), effective, linear);
            EXPECT(std::fabs(back[i] - expected) <= 1e-4);
          }
          CHECK(cudaDestroyTextureObject(texture));
        }
      }
    }
  }
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(pitched));
  CHECK(cudaFree(out));
}

void read_colours() {
  const std::vector<uchar4> image{{0, 51, 102, 255}, {255, 0, 0, 0}, {1, 2, 3, 4}, {9, 8, 7, 6}};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 2, 2));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), 8, 8, 2, cudaMemcpyHostToDevice));
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t texture = texture_of(resource_of(array), how);
  float4* out = given(std::vector<float4>(4));
  fetch_colours<<<1, 4>>>(texture, out);
  const std::vector<float4> back = taken(out, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT(std::fabs(back[i].x - image[i].x / 255.0f) <= 1e-6f);
    EXPECT(std::fabs(back[i].y - image[i].y / 255.0f) <= 1e-6f);
    EXPECT(std::fabs(back[i].z - image[i].z / 255.0f) <= 1e-6f);
    EXPECT(std::fabs(back[i].w - image[i].w / 255.0f) <= 1e-6f);
  }
  // A copy that runs over the ends of rows.
  std::vector<uchar4> again(3);
  CHECK(cudaMemcpy2DFromArray(again.data(), 4, array, 4, 0, 4, 2, cudaMemcpyDeviceToHost));
  EXPECT(again[0].x == 255 && again[1].x == 9);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
}

/// What a texture of `Element`s has around it, with the colour 0.25, 1.25.
template <typename Element, typename Texel>
Texel border_of(cudaTextureReadMode mode) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<Element>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 4, 4));
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
  how.readMode = mode;
  how.borderColor[0] = 0.25f;
  how.borderColor[1] = 1.25f;
  const cudaTextureObject_t texture = texture_of(resource_of(array), how);
  Texel* out = given(std::vector<Texel>(1));
  fetch_outside<<<1, 1>>>(texture, out);
  const Texel border = taken(out, 1)[0];
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return border;
}

/// As an H200 has them: with the precision of the elements, and as the bits of a float where
/// integers are read.
void read_borders() {
  const float2 bytes = border_of<uchar2, float2>(cudaReadModeNormalizedFloat);
  EXPECT(std::fabs(bytes.x - 64 / 255.0f) <= 1e-6f && bytes.y == 1.0f);
  const int2 whole = border_of<int2, int2>(cudaReadModeElementType);
  EXPECT(whole.x == 0x3E800000 && whole.y == 0x3FA00000);
  const short2 halves = border_of<short2, short2>(cudaReadModeElementType);
  EXPECT(halves.x == 0 && halves.y == 0);
}

void read_layers_and_volumes() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(2, 2, 6);
  std::vector<float> values(2 * 2 * 6);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i);
  float* out = given(std::vector<float>(8));
  const auto made = [&](unsigned flags) {
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 2 * sizeof(float), 2, 2);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
  };
  const cudaArray_t layers = made(cudaArrayLayered), volume = made(0),
                    cube = made(cudaArrayCubemap);
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  const cudaTextureObject_t by_layer = texture_of(resource_of(layers), how);
  fetch_layers<<<1, 8>>>(by_layer, out);
  std::vector<float> back = taken(out, 8);
  for (int i = 0; i < 8; ++i) EXPECT(back[i] == values[4 * (i < 6 ? i : 5) + 1]);

  how.filterMode = cudaFilterModeLinear;
  const cudaTextureObject_t in_volume = texture_of(resource_of(volume), how);
  fetch_3d<<<1, 1>>>(in_volume, make_float3(1, 1, 3), out);  // between slices 2 and 3
  float sum = 0;
  for (int i = 8; i < 16; ++i) sum += values[i];
  EXPECT(std::fabs(taken(out, 1)[0] - sum / 8) <= 1e-4f);

  // Into the middle of each face: the mean of its four elements.
  how.normalizedCoords = 1;
  const cudaTextureObject_t of_cube = texture_of(resource_of(cube), how);
  float3* directions = given(std::vector<float3>{
      {2, 0, 0}, {-1, 0, 0}, {0, 3, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -5}, {1, 0.5f, -0.5f}});
  fetch_cube<<<1, 7>>>(of_cube, directions, out);
  back = taken(out, 7);
  for (int face = 0; face < 6; ++face) {
    float mean = 0;
    for (int i = 0; i < 4; ++i) mean += values[4 * face + i] / 4;
    EXPECT(std::fabs(back[face] - mean) <= 1e-4f);
  }
  EXPECT(back[6] == values[1]);  // of +x, right (-z) and up (y): s = 3/4, t = 1/4
  for (const auto texture : {by_layer, in_volume, of_cube}) {
    CHECK(cudaDestroyTextureObject(texture));
  }
  for (const auto array : {layers, volume, cube}) CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  CHECK(cudaFree(directions));
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaSurfaceObject_t surface = 0;
  const cudaResourceDesc resource = resource_of(array);
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

void write_surfaces() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 20, 5, cudaArraySurfaceLoadStore));
  const cudaSurfaceObject_t surface = surface_of(array);
  int* out = given(std::vector<int>(3));
  write_surface<<<5, 32>>>(surface, 20);
  read_surface<<<1, 1>>>(surface, out);
  const std::vector<int> read = taken(out, 3);
  EXPECT(read[0] == 101 && read[1] == 0 && read[2] == 419);
  std::vector<int> back(100);
  CHECK(cudaMemcpy2DFromArray(back.data(), 80, array, 0, 0, 80, 5, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) EXPECT(back[i] == 100 * (i / 20) + i % 20);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
}

void refuse_what_is_wrong() {
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  EXPECT_ERROR(cudaMallocArray(&array, &format, 0, 4), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMallocArray(&array, &format, 1 << 20, 4), cudaErrorInvalidValue);
  format.x = 24;
  EXPECT_ERROR(cudaMallocArray(&array, &format, 4, 4), cudaErrorInvalidChannelDescriptor);
  format.x = 32;
  CHECK(cudaMallocArray(&array, &format, 4, 4));
  cudaResourceDesc resource = resource_of(array);
  cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  how.readMode = cudaReadModeNormalizedFloat;
  EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr),
               cudaErrorInvalidNormSetting);
  how.readMode = cudaReadModeElementType;
  how.filterMode = cudaFilterModeLinear;
  EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr),
               cudaErrorInvalidFilterSetting);
  cudaSurfaceObject_t surface = 0;  // the array was not made for one
  EXPECT_ERROR(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidValue);
  int value = 0;
  EXPECT_ERROR(cudaMemcpy2DToArray(array, 4, 0, &value, 16, 16, 1, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue);
  cudaExtent extent;
  unsigned flags = 9;
  CHECK(cudaArrayGetInfo(&format, &extent, &flags, array));
  EXPECT(format.x == 32 && extent.width == 4 && extent.height == 4 && extent.depth == 0);
  CHECK(cudaFreeArray(array));
  EXPECT_ERROR(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
  resource.resType = cudaResourceTypeMipmappedArray;
  EXPECT_ERROR(cudaCreateTextureObject(&texture, &resource, &how, nullptr), cudaErrorNotSupported);
}

void fault(const char* how) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore));
  float* out = given(std::vector<float>(64));
  if (std::strcmp(how, "surface") == 0) {
    write_outside<<<1, 1>>>(surface_of(array));
  } else if (std::strcmp(how, "freed") == 0) {
    const cudaTextureObject_t texture = texture_of(resource_of(array), {});
    CHECK(cudaFreeArray(array));
    fetch_2d<<<1, 1>>>(texture, 0, 1, 1, out);
  } else {
    fetch_2d<<<1, 1>>>(12345, 0, 1, 1, out);
  }
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

int main(int count, char** arguments) {
  if (count > 1) {
    fault(arguments[1]);
    return 0;
  }
  read_linear_memory();
  read_images();
  read_colours();
  read_borders();
  read_layers_and_volumes();
  write_surfaces();
  refuse_what_is_wrong();
  std::printf("textures are right\n");
}
