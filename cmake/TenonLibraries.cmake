# The libraries that are installed, and how: libtenon_runtime runs artifacts, libtenon compiles too. Each is whole in
# itself, with every third party inside it and hidden; a process links one of them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(exports ${CMAKE_CURRENT_BINARY_DIR}/exports.map)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tenon/*.h)
add_custom_command(OUTPUT ${exports}
  COMMAND ${CMAKE_COMMAND} -DHEADERS=${PROJECT_SOURCE_DIR}/include/tenon -DOUTPUT=${exports}
          -P ${PROJECT_SOURCE_DIR}/cmake/TenonExports.cmake
  DEPENDS ${public_headers} ${PROJECT_SOURCE_DIR}/cmake/TenonExports.cmake VERBATIM)
add_custom_target(tenon_exports DEPENDS ${exports})

# tenon_library(runtime LAYERS base types ... LINK ...): libtenon_runtime as Tenon::runtime.
function(tenon_library name)
  cmake_parse_arguments(arg "" "FILE" "LAYERS;LINK" ${ARGN})
  set(target ${arg_FILE}_shared)
  set(objects)
  foreach(layer IN LISTS arg_LAYERS)
    get_target_property(type tenon_${layer} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:tenon_${layer}>)
    endif()
  endforeach()
  add_library(${target} SHARED ${objects})
  add_library(Tenon::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_FILE} EXPORT_NAME ${name} LINKER_LANGUAGE CXX LINK_DEPENDS ${exports}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  add_dependencies(${target} tenon_exports)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${arg_LINK})
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports} -Wl,--gc-sections -Wl,--as-needed -Wl,-z,defs)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  install(TARGETS ${target} EXPORT TenonTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${arg_FILE}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${arg_FILE}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${arg_FILE}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(runtime_layers base rewrite types program runtime measure compiled)
string(REGEX MATCHALL "[a-z_]+:" all_layers "${TENON_LAYER_ROWS}")
list(TRANSFORM all_layers REPLACE ":" "")
list(REMOVE_ITEM all_layers emulate)  # of tests

find_library(LIBB2_STATIC libb2.a REQUIRED)
file(RELATIVE_PATH TENON_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
tenon_library(runtime FILE tenon_runtime LAYERS ${runtime_layers} LINK ${LIBB2_STATIC})
tenon_library(tenon FILE tenon LAYERS ${all_layers} LINK ${LIBB2_STATIC} ${TENON_LLVM_LIBS})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(EXPORT TenonTargets NAMESPACE Tenon:: FILE TenonConfig.cmake DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TenonConfigVersion.cmake DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tenon)
