// The functions of fmt that are no templates, compiled once here: as a header-only library they
// would be compiled again in every file that formats a line, which is two fifths of what such a
// file takes. Nothing but fmt's headers is needed, and its symbols stay inside our libraries. Built
// for fmt 9 (see src/CMakeLists.txt); other releases want other instances and are used header-only.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>,
                         locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
