// The text of the Error that a call ends with, for tests that look at it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tenon/error.h"

namespace tenon {

// `kind`: what it must be; nullopt: any.
template <typename Call>
std::string error_of(Call&& call, std::optional<ErrorKind> kind = std::nullopt) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind.value_or(error.kind())) << error.what();
    return error.what();
  }
  return "no error";
}

// Of what is the caller's fault.
template <typename Call>
std::string user_error_of(Call&& call) {
  return error_of(call, ErrorKind::User);
}

}  // namespace tenon
