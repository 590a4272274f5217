# Writes OUTPUT, a source that defines AllMigrations() from DIRECTORY/*.sql.
# Run with cmake -P.
file(GLOB files ${DIRECTORY}/*.sql)
list(SORT files)
set(code "#include \"broker/storage/migrator.h\"\n\nnamespace intercom {\n\n")
string(APPEND code
  "std::span<const Migration> AllMigrations() {\n"
  "  static constexpr Migration kMigrations[] = {\n")
set(expected 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  if(NOT name MATCHES "^0*([1-9][0-9]*)_[a-z0-9_]+\\.sql$")
    message(FATAL_ERROR "${file}: not named NNNN_name.sql")
  endif()
  math(EXPR expected "${expected} + 1")
  if(NOT CMAKE_MATCH_1 EQUAL expected)
    message(FATAL_ERROR "${file}: expected migration ${expected}")
  endif()
  file(READ ${file} sql)
  string(APPEND code "      {${expected}, \"${name}\", R\"sql(${sql})sql\"},\n")
endforeach()
string(APPEND code
  "  };\n  return kMigrations;\n}\n\n}  // namespace intercom\n")
file(WRITE ${OUTPUT} "${code}")
