#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// A person's name as it is compared: lower case, without accents (é is e, ß is ss), everything
/// that is neither a letter nor a digit as one space, none at the ends. Bytes that are not UTF-8
/// count as spaces.
std::string fold_name(std::string_view name);

/// fold_name() without its spaces.
std::string fold_letters(std::string_view name);

/// "Lovelace, Ada" as "Ada Lovelace"; other names as they are.
std::string given_name_first(std::string_view name);

/// ASCII letters in lower case, the rest as it is: for logins and e-mail addresses.
std::string lower_case(std::string_view text);

/// Whether a file that names a student by a key, login or e-mail address means one of these names.
bool means_one_of(std::string_view name, const std::vector<std::string>& names);

}  // namespace rooflab
