# cairn_needs_postgres(TEST…): these tests run beside a throw-away server (tests/postgres/throwaway.sh), which ctest
# starts before the first of them and removes after the last. CAIRN_TEST_POSTGRES tells them where it is.
string(SHA256 folder ${CMAKE_BINARY_DIR})
string(SUBSTRING ${folder} 0 10 folder)
# Short: the path of a socket has at most 107 characters.
set(CAIRN_POSTGRES_FOLDER /tmp/cairn-pg-${folder})

function(cairn_needs_postgres)
  set_tests_properties(${ARGN} PROPERTIES FIXTURES_REQUIRED postgres ENVIRONMENT
    "CAIRN_TEST_POSTGRES=postgresql:///cairn?host=${CAIRN_POSTGRES_FOLDER}&user=cairn")
endfunction()
