# subquad::subquad (everything), the installed CMake package with components, and pkg-config.
include(CMakePackageConfigHelpers)
get_property(rooms GLOBAL PROPERTY SUBQUAD_ROOMS)
add_library(subquad_all INTERFACE)
add_library(subquad::subquad ALIAS subquad_all)
set_target_properties(subquad_all PROPERTIES EXPORT_NAME subquad)
foreach(room IN LISTS rooms)
  target_link_libraries(subquad_all INTERFACE subquad_${room})
endforeach()
install(TARGETS subquad_all EXPORT subquadTargets)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/subquad)
string(REPLACE ";" " " SUBQUAD_ROOM_LIST "${rooms}")
configure_package_config_file(cmake/subquad-config.cmake.in ${PROJECT_BINARY_DIR}/subquad-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/subquad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/subquad-config.cmake ${PROJECT_BINARY_DIR}/subquad-config-version.cmake
  DESTINATION ${package_dir})
install(EXPORT subquadTargets NAMESPACE subquad:: DESTINATION ${package_dir})

set(pc_libs "")
foreach(room IN LISTS rooms)
  string(APPEND pc_libs " -lsubquad_${room}")
endforeach()
file(RELATIVE_PATH SUBQUAD_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" SUBQUAD_PREFIX_FROM_PC "${SUBQUAD_PREFIX_FROM_PC}")
configure_file(cmake/subquad.pc.in ${PROJECT_BINARY_DIR}/subquad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/subquad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
