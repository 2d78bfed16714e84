# cmake -P: installs a build into a temporary prefix and uses it as a stranger would.
#
#   BUILD_DIR  the build to install         SOURCE_DIR  the checkout         WORK_DIR  emptied and used
#   CXX, CXX_FLAGS  what the build was compiled with (a sanitized library needs a sanitized consumer)
function(must what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${out}\n${err}")
  endif()
  message(STATUS "${what}: ok")
  set(OUTPUT "${out}" PARENT_SCOPE)
endfunction()

set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
must("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

# Real files, not links into the checkout that would dangle on another machine.
file(GLOB_RECURSE installed LIST_DIRECTORIES false ${prefix}/*)
foreach(file IN LISTS installed)
  if(IS_SYMLINK ${file})
    message(FATAL_ERROR "installed a symbolic link: ${file}")
  endif()
endforeach()
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc)
foreach(file IN LISTS texts)
  file(READ ${file} content)
  foreach(place ${SOURCE_DIR}/ ${BUILD_DIR}/)
    string(FIND "${content}" "${place}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${place}, which a consumer does not have")
    endif()
  endforeach()
endforeach()

set(example ${SOURCE_DIR}/docs/examples/library_tour.cpp)
set(configure ${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/tests/install/consumer -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -DCMAKE_BUILD_TYPE=Release -DCONSUMER_SOURCE=${example})
must("consumer: configure" ${configure} -B ${WORK_DIR}/consumer)
must("consumer: build" ${CMAKE_COMMAND} --build ${WORK_DIR}/consumer)
must("consumer: run" ${WORK_DIR}/consumer/consumer)
set(output_by_cmake "${OUTPUT}")
must("consumer of subquad::subquad: run" ${WORK_DIR}/consumer/consumer_of_all)

execute_process(COMMAND ${configure} -B ${WORK_DIR}/refused -DCONSUMER_COMPONENT=nonexistent
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE err)
if(status EQUAL 0 OR NOT err MATCHES "nonexistent")
  message(FATAL_ERROR "find_package(subquad COMPONENTS nonexistent) must fail and name the component; it said:\n${err}")
endif()
message(STATUS "unknown component: refused")

find_program(PKG_CONFIG NAMES pkgconf pkg-config REQUIRED)
file(GLOB_RECURSE pc ${prefix}/*/subquad.pc)
get_filename_component(pc_dir "${pc}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
must("pkg-config" ${PKG_CONFIG} --cflags --libs --static subquad)
separate_arguments(flags UNIX_COMMAND "${OUTPUT}")
separate_arguments(extra UNIX_COMMAND "${CXX_FLAGS}")
must("pkg-config: compile" ${CXX} ${extra} -O1 ${example} -o ${WORK_DIR}/by_pkg_config ${flags})
must("pkg-config: run" ${WORK_DIR}/by_pkg_config)
if(NOT OUTPUT STREQUAL output_by_cmake)
  message(FATAL_ERROR "the two consumers print different things:\n${output_by_cmake}\n${OUTPUT}")
endif()

# The installed command starts and knows its version.
if(EXISTS ${prefix}/bin/subquad)
  must("installed command" ${prefix}/bin/subquad --version)
endif()
