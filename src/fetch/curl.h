// libcurl, whose macros are not ours to mend: the one place that includes it.
#pragma once

#include <curl/curl.h>

// Its type checks for C expand to pages of warnings, and hide functions.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
