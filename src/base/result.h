// Result<T>: a value or an Error, for code that must not throw (the runtime, the C API).
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace tenon {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

  // The value; throws the error. For the layers above, which throw.
  T take() {
    if (!ok()) throw error();
    return std::move(value());
  }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }
  void throw_if_error() const {
    if (error_) throw *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tenon
