# find_package(traceloom): the recorder for C and C++.
#
#   target_link_libraries(app PRIVATE traceloom::cnanolog)       # <cnanolog.h>
#   target_link_libraries(app PRIVATE traceloom::easy_profiler)  # <easy/profiler.h>, with BUILD_WITH_EASY_PROFILER
#   target_link_libraries(app PRIVATE traceloom::record)         # <traceloom.h>
#
# This file is in PREFIX/lib/cmake/traceloom. Set TRACELOOM_SHARED to use the shared library.
if(TARGET traceloom::record)
  return()
endif()

get_filename_component(_traceloom_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(TRACELOOM_SHARED)
  set(_traceloom_file "${CMAKE_SHARED_LIBRARY_PREFIX}traceloom_record_c${CMAKE_SHARED_LIBRARY_SUFFIX}")
  set(_traceloom_kind SHARED)
else()
  set(_traceloom_file "${CMAKE_STATIC_LIBRARY_PREFIX}traceloom_record_c${CMAKE_STATIC_LIBRARY_SUFFIX}")
  set(_traceloom_kind STATIC)
endif()

find_package(Threads QUIET REQUIRED)
add_library(traceloom::record ${_traceloom_kind} IMPORTED)
set_target_properties(traceloom::record PROPERTIES
  IMPORTED_LOCATION "${_traceloom_prefix}/lib/${_traceloom_file}"
  IMPORTED_NO_SONAME TRUE
  INTERFACE_INCLUDE_DIRECTORIES "${_traceloom_prefix}/include"
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
if(NOT EXISTS "${_traceloom_prefix}/lib/${_traceloom_file}")
  set(traceloom_FOUND FALSE)
  set(traceloom_NOT_FOUND_MESSAGE "${_traceloom_prefix}/lib/${_traceloom_file} is missing")
  return()
endif()

add_library(traceloom::cnanolog INTERFACE IMPORTED)
set_target_properties(traceloom::cnanolog PROPERTIES INTERFACE_LINK_LIBRARIES traceloom::record)

add_library(traceloom::easy_profiler INTERFACE IMPORTED)
set_target_properties(traceloom::easy_profiler PROPERTIES
  INTERFACE_LINK_LIBRARIES traceloom::record
  INTERFACE_COMPILE_DEFINITIONS BUILD_WITH_EASY_PROFILER)
