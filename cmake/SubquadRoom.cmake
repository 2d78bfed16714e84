# subquad_room(NAME exact DIR lib/exact HEADERS a.hpp .. SOURCES a.cpp .. DEPS subquad::core .. PRIVATE_DEPS ..)
#
# One library target per room. Each *listed* header is linked into an include root of the room's own, as
# <subquad/NAME/a.hpp>; a target therefore sees exactly the rooms it links, and unlisted headers are private.
# Each public header is also compiled alone and twice (target check_headers): self-contained and guarded.
add_custom_target(check_headers)

function(subquad_room)
  cmake_parse_arguments(R "" "NAME;DIR" "HEADERS;SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  set(target subquad_${R_NAME})
  set(root ${PROJECT_BINARY_DIR}/include/${R_NAME})
  set(check_dir ${PROJECT_BINARY_DIR}/header_check/${R_NAME})
  file(REMOVE_RECURSE ${root})
  file(MAKE_DIRECTORY ${root}/subquad/${R_NAME} ${check_dir})
  set(check_sources "")
  foreach(header IN LISTS R_HEADERS)
    set(real ${PROJECT_SOURCE_DIR}/${R_DIR}/${header})
    if(NOT EXISTS ${real})
      message(FATAL_ERROR "room ${R_NAME}: listed header ${R_DIR}/${header} does not exist")
    endif()
    file(CREATE_LINK ${real} ${root}/subquad/${R_NAME}/${header} SYMBOLIC)
    install(FILES ${real} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/subquad/${R_NAME})
    set(unit ${check_dir}/${header}.cpp)
    set(line "#include <subquad/${R_NAME}/${header}>\n")
    file(CONFIGURE OUTPUT ${unit} CONTENT "${line}${line}")
    list(APPEND check_sources ${unit})
  endforeach()

  add_library(${target} STATIC ${R_SOURCES})
  add_library(subquad::${R_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${R_NAME} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${R_DEPS} PRIVATE $<BUILD_INTERFACE:subquad_build_flags> ${R_PRIVATE_DEPS})
  install(TARGETS ${target} EXPORT subquadTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY SUBQUAD_ROOMS ${R_NAME})

  if(check_sources)
    add_library(${target}_headers OBJECT EXCLUDE_FROM_ALL ${check_sources})
    target_link_libraries(${target}_headers PRIVATE ${target} subquad_build_flags)
    add_dependencies(check_headers ${target}_headers)
  endif()
endfunction()
