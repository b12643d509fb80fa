#pragma once

#include <filesystem>
#include <string>

#include "simgpu/report.h"
#include "specs/gpu_spec.h"

namespace simgpu::cli {

/// The report of one run as JSON, schema 1.
std::string report_json(const Activity& activity, const gpu_spec::GpuSpec& gpu);

/// Writes the file whole or not at all. @throws std::runtime_error saying why not
void write_file(const std::filesystem::path& file, const std::string& contents);

}  // namespace simgpu::cli
