// The key of an entry on disk: everything that decides what was made, as named fields of text. The
// digest of all of them names the entry; the fields are kept in it, so that a file under a wrong
// name is refused and `tenon cache why` can say which field differs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace tenon::cache {

class KeyFields {
 public:
  struct Field {
    std::string name, value;
    bool operator==(const Field&) const = default;
  };

  // Names are letters, digits, '_', '-' and '.', each used once; values are any bytes. The order of
  // fields is part of the key.
  KeyFields& add(std::string_view name, std::string_view value);

  std::span<const Field> fields() const { return fields_; }
  const std::string* find(std::string_view name) const;  // null: no such field
  bool operator==(const KeyFields&) const = default;

  Digest digest() const;

  // A line NAME=VALUE for each; a backslash and whatever does not print is escaped. `parse` takes
  // what `text` gives and nothing else.
  std::string text() const;
  static Result<KeyFields> parse(std::string_view text);

 private:
  std::vector<Field> fields_;
};

// Names of fields that only one of them has, or that have other values: those of `a` in its order,
// then those that only `b` has.
std::vector<std::string> differing(const KeyFields& a, const KeyFields& b);

}  // namespace tenon::cache
