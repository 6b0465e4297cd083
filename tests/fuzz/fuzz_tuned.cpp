// Any text as a file of tuned schedules: it is refused, or says what it says, and prints as a file
// that says the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/no_internal_error.h"
#include "tune/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tenon::fuzz::expect_no_internal_error([&] {
    const auto records = tenon::tune::parse_records(text);
    if (!records) return;
    const std::string printed = tenon::tune::print(records.value());
    const auto again = tenon::tune::parse_records(printed);
    if (!again || tenon::tune::print(again.value()) != printed) std::abort();
  });
  return 0;
}
