# Writes the version script of the shared libraries: what include/tenon declares is exported, nothing else is.
# `cmake -DHEADERS=FOLDER -DOUTPUT=FILE -P TenonExports.cmake`. It reads headers as clang-format leaves them: what a
# namespace declares begins in the first column.
cmake_minimum_required(VERSION 3.25)
file(GLOB headers ${HEADERS}/*.h)
set(patterns)
foreach(header IN LISTS headers)
  file(STRINGS ${header} lines REGEX "^[a-zA-Z}]")
  set(scope)
  set(before)
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace ([a-z_:]+) ")
      list(APPEND scope ${CMAKE_MATCH_1})
    elseif(line MATCHES "^}  // namespace" OR (line STREQUAL "}" AND before MATCHES "^(class|struct) [A-Za-z]+;"))
      list(POP_BACK scope)  # the second: a namespace of forward declarations
    elseif(scope)
      list(JOIN scope "::" prefix)
      if(line MATCHES "^(class|struct) ([A-Za-z0-9]+) ")
        set(name ${prefix}::${CMAKE_MATCH_2})
        list(APPEND patterns "${name}::*" "typeinfo?for?${name}" "typeinfo?name?for?${name}" "vtable?for?${name}")
      elseif(line MATCHES " operator[^a-z]")
        list(APPEND patterns "${prefix}::operator?*")
      elseif(line MATCHES "[ *&]([a-z][a-z_0-9]*)\\(")
        list(APPEND patterns "${prefix}::${CMAKE_MATCH_1}?*")  # `(`, or `[abi:cxx11](`
      endif()
    endif()
    set(before "${line}")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES patterns)
list(SORT patterns)
list(JOIN patterns ";\n      " text)  # not quoted, for that would make them names
file(WRITE ${OUTPUT} "{
  global:
    tenon_*;
    extern \"C++\" {
      ${text};
    };
  local: *;
};
")
