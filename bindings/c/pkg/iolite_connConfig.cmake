# find_package(iolite_conn) gives iolite_conn::iolite_conn, the shared library, and iolite_conn::static.

include("${CMAKE_CURRENT_LIST_DIR}/iolite_connConfigVersion.cmake")

# This file lies in <libdir>/cmake/iolite_conn.
get_filename_component(_iolite_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_path(_iolite_includedir iolite_conn.h HINTS "${_iolite_libdir}/../include" "${_iolite_libdir}/../../include" NO_CACHE)

if(NOT TARGET iolite_conn::iolite_conn)
  add_library(iolite_conn::iolite_conn SHARED IMPORTED)
  set_target_properties(
    iolite_conn::iolite_conn
    PROPERTIES IMPORTED_LOCATION "${_iolite_libdir}/libiolite_conn.so" INTERFACE_INCLUDE_DIRECTORIES
                                                                       "${_iolite_includedir}")
endif()

if(NOT TARGET iolite_conn::static AND EXISTS "${_iolite_libdir}/libiolite_conn.a")
  find_package(Threads REQUIRED)
  add_library(iolite_conn::static STATIC IMPORTED)
  set_target_properties(
    iolite_conn::static
    PROPERTIES IMPORTED_LOCATION "${_iolite_libdir}/libiolite_conn.a"
               INTERFACE_INCLUDE_DIRECTORIES "${_iolite_includedir}"
               INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m;rt;util")
endif()
