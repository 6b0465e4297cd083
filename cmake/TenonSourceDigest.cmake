# Writes a header with one digest of all files of a list, whatever folder the tree lies in: the same sources give the same
# digest. The file is left alone where nothing changed. ROOT: what paths are relative to; LIST: the files, one per line.
file(STRINGS ${LIST} files)
list(SORT files)
set(digests)
foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(SHA256 ${file} digest)
  string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// Made by cmake/TenonSourceDigest.cmake.
#pragma once
namespace tenon::driver {
inline constexpr const char* kSourceDigest = \"@digest@\";
}
" @ONLY)
