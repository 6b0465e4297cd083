// The one exception type of the public API. `kind` says whose fault it is: the caller's input
// (User), something Tenon cannot do yet (Unsupported), or a bug in Tenon (Internal). Messages start
// with the op or file at fault.
#pragma once

#include <stdexcept>
#include <string>

namespace tenon {

enum class ErrorKind { User, Unsupported, Internal };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace tenon
