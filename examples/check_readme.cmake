# The README's example is examples/quickstart.cpp, word for word.
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
file(READ ${root}/README.md readme)
file(READ ${CMAKE_CURRENT_LIST_DIR}/quickstart.cpp example)
string(FIND "${readme}" "```cpp\n${example}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md does not show examples/quickstart.cpp as it is")
endif()
