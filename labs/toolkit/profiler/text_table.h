#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// Lines of text in columns: the first is flush left and cut where it is too long, the others are
/// flush right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { lines_.push_back(std::move(header)); }

  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }
  /// With rules around the header and at the end.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> lines_;
};

/// "812.500us", "1.204ms", "2.000s"
std::string time_text(double microseconds);
/// "12.50 %"; "-" where the whole is 0
std::string share_text(double part, double whole);
/// "0 b", "512 b", "1.50 Kb", "-2.00 Mb": multiples of 1024, as torch.profiler writes them
std::string memory_text(std::int64_t bytes);
/// Multiples of 1000: "3.20 G", "15.6 T"; "-" for 0, which means not known
std::string amount_text(double amount);

}  // namespace rooflab
