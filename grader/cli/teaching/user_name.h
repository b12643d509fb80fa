#pragma once

#include <string>

namespace rooflab {

/// The login of whoever runs this program: who did something, where nobody says otherwise.
std::string name_of_user();

}  // namespace rooflab
