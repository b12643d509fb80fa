#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// The GPUs that the stand-ins for NVIDIA's driver and runtime pretend, and what is wrong with
/// them. A setting is the environment's, else what a file of its name says in the folder that the
/// stand-in was loaded from: guests have an environment of their own, and the same folder.
#pragma GCC visibility push(hidden)  // each library has its own folder
namespace rooflab::fake {

inline std::string own_folder() {
  static const char anchor = 0;
  Dl_info info{};
  if (dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string file = info.dli_fname;
  return file.substr(0, file.find_last_of('/'));
}

inline std::string setting(const char* name, const std::string& otherwise = "") {
  if (const char* value = std::getenv(name)) return value;
  std::ifstream file(own_folder() + "/" + name);
  std::string line;
  return std::getline(file, line) ? line : otherwise;
}

/// The element of a list for GPU `index`, the last one for all that it does not reach.
inline std::string element(const std::string& list, std::size_t index) {
  std::istringstream elements(list);
  std::string value;
  for (std::size_t i = 0; i <= index && std::getline(elements, value, ','); ++i) {
  }
  return value;
}

inline int gpus() { return std::atoi(setting("ROOFLAB_FAKE_CUDA_GPUS", "1").c_str()); }

/// Of GPU `gpu` of the machine: 10111213-… with the GPU's number added to its last byte.
inline void write_uuid(int gpu, unsigned char* uuid) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0x10 + i + (i == 15 ? gpu : 0));
}

inline std::string uuid_text(int gpu) {
  char text[64];
  std::snprintf(text, sizeof text, "GPU-10111213-1415-1617-1819-1a1b1c1d1e%02x",
                static_cast<unsigned>(0x1f + gpu));
  return text;
}

/// The machine's GPUs that a process sees, by CUDA_VISIBLE_DEVICES: numbers, or whole names.
inline std::vector<int> visible() {
  std::vector<int> all;
  for (int gpu = 0; gpu < gpus(); ++gpu) all.push_back(gpu);
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return all;
  std::vector<int> seen;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = std::ranges::find_if(
        all, [&](int gpu) { return name == std::to_string(gpu) || name == uuid_text(gpu); });
    if (found == all.end()) break;
    seen.push_back(*found);
  }
  return seen;
}

/// What a call returns that ROOFLAB_FAKE_CUDA_FAILS names ("cudaMemPoolCreate=801"); 0: it works.
inline int failure_of(const std::string& call) {
  std::istringstream failures(setting("ROOFLAB_FAKE_CUDA_FAILS"));
  for (std::string failure; std::getline(failures, failure, ',');) {
    if (failure.starts_with(call + "=")) return std::atoi(failure.c_str() + call.size() + 1);
  }
  return 0;
}

}  // namespace rooflab::fake
#pragma GCC visibility pop
