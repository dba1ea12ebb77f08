# `cmake --install` and the Debian package (`./nephila package`).
#
# The man page and the completions are printed by the program itself, so they say
# what --help says. What the public suffix list says is built in: the program
# needs no file of its own at run time. nephila-bench is installed where it was
# built, and is no part of the package: it links the stores that it compares with.

include(GNUInstallDirs)

# Who installs builds what he installs, not all the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(pages ${CMAKE_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${pages})
set(outputs ${pages}/nephila.1.gz)
add_custom_command(OUTPUT ${pages}/nephila.1.gz
  COMMAND nephila man > ${pages}/nephila.1
  COMMAND gzip -9nf ${pages}/nephila.1
  DEPENDS nephila VERBATIM)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${pages}/nephila.${shell}
    COMMAND nephila completion ${shell} > ${pages}/nephila.${shell}
    DEPENDS nephila VERBATIM)
  list(APPEND outputs ${pages}/nephila.${shell})
endforeach()
add_custom_command(OUTPUT ${pages}/changelog.gz
  COMMAND gzip -9nc ${CMAKE_SOURCE_DIR}/CHANGELOG.md > ${pages}/changelog.gz
  DEPENDS ${CMAKE_SOURCE_DIR}/CHANGELOG.md VERBATIM)
list(APPEND outputs ${pages}/changelog.gz)
add_custom_target(pages ALL DEPENDS ${outputs})

install(TARGETS nephila RUNTIME COMPONENT nephila)
if(NEPHILA_BENCH)
  install(TARGETS nephila-bench RUNTIME COMPONENT bench OPTIONAL)
endif()
install(FILES ${pages}/nephila.1.gz
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT nephila)
install(FILES ${pages}/nephila.bash RENAME nephila
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  COMPONENT nephila)
install(FILES ${pages}/nephila.zsh RENAME _nephila
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT nephila)
install(FILES ${pages}/nephila.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT nephila)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/NOTICE
  ${CMAKE_SOURCE_DIR}/LICENSE ${pages}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT nephila)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/copyright
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT nephila)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT nephila
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN adr EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nephila)
set(CPACK_PACKAGE_VENDOR "The nephila authors")
set(CPACK_PACKAGE_CONTACT "The nephila authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "web crawler that scales from a site to the web")
set(CPACK_PACKAGE_DESCRIPTION
  "nephila crawls sites and broad webs on one machine, politely and at a fixed
memory size, and writes WARC archives with their index. Crawls can be stopped
at any moment, by a crash too, and go on where they were. It follows IRLbot:
DRUM for batched disk checks, STAR for the reputation of domains, BEAST for
budgets.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL nephila)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION web)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS ca-certificates)
# What the installed files need whatever the builder's umask is.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
include(CPack)
