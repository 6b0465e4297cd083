# LLVM through llvm-config, as the target-free variables TENON_LLVM_INCLUDE, TENON_LLVM_DEFINITIONS and TENON_LLVM_LIBS.
# LLVM's own package for CMake adds targets to whoever adds this tree as a folder, and asks for every library that any
# part of LLVM might need.
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config REQUIRED)

function(ask_llvm_config result)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(text UNIX_COMMAND "${text}")
  set(${result} ${text} PARENT_SCOPE)
endfunction()

ask_llvm_config(version --version)
if(NOT version VERSION_GREATER_EQUAL 19.1 OR NOT version VERSION_LESS 20)
  message(FATAL_ERROR "Tenon needs LLVM 19.1, ${LLVM_CONFIG} is of LLVM ${version}")
endif()
ask_llvm_config(TENON_LLVM_INCLUDE --includedir)
ask_llvm_config(TENON_LLVM_DEFINITIONS --cppflags)
list(FILTER TENON_LLVM_DEFINITIONS INCLUDE REGEX "^-D")
if(TENON_LLVM_STATIC)
  ask_llvm_config(TENON_LLVM_LIBS --link-static --libfiles core support target mc object x86codegen x86desc x86info
                  transformutils)
  list(APPEND TENON_LLVM_LIBS rt ${CMAKE_DL_LIBS} m z zstd)
else()
  ask_llvm_config(TENON_LLVM_LIBS --link-shared --libfiles)
endif()
