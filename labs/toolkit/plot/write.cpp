#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {
namespace {

/// Writes beside the file, then takes its place in one step: a reader sees the old file or the new.
void replace_file(const std::filesystem::path& file, const std::string& text) {
  std::string staging = file.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(staging.data());
  const auto fail = [&](int error) {
    if (descriptor >= 0) ::unlink(staging.c_str());
    throw std::filesystem::filesystem_error("cannot write the chart", file,
                                            std::error_code(error, std::generic_category()));
  };
  if (descriptor < 0) fail(errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      ::close(descriptor);
      fail(error);
    }
    done += static_cast<std::size_t>(count);
  }
  // mkstemp makes a file for its owner alone; a chart is for everyone who may read the folder.
  const int readable = ::fchmod(descriptor, 0644);
  if (::close(descriptor) != 0 || readable != 0) fail(errno);
  if (::rename(staging.c_str(), file.c_str()) != 0) fail(errno);
}

template <typename Chart>
void write_all(const Chart& chart, const std::filesystem::path& stem) {
  // Nothing is written of a chart that cannot be drawn.
  const std::string json = to_json(chart), csv = to_csv(chart), svg = to_svg(chart);
  if (stem.has_parent_path()) std::filesystem::create_directories(stem.parent_path());
  replace_file(stem.string() + ".json", json);
  replace_file(stem.string() + ".csv", csv);
  replace_file(stem.string() + ".svg", svg);
}

}  // namespace

void write(const RooflineChart& chart, const std::filesystem::path& stem) {
  write_all(chart, stem);
}
void write(const LatencyChart& chart, const std::filesystem::path& stem) { write_all(chart, stem); }
void write(const AttentionChart& chart, const std::filesystem::path& stem) {
  write_all(chart, stem);
}

}  // namespace rooflab::plot
