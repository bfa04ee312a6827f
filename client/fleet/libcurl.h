/*
 * libcurl, loaded by the first server that is asked and never unloaded: it brings twenty more
 * libraries, which would double the time that each jxperfctl takes to start. One thread.
 */
#ifndef JXPERF_CLIENT_FLEET_LIBCURL_H
#define JXPERF_CLIENT_FLEET_LIBCURL_H

#include <curl/curl.h>

#include "common/err.h"

/* What is used of it, each as libcurl's curl_easy_init, and so on. */
struct libcurl {
	CURL *(*init)(void);
	CURLcode (*set)(CURL *curl, CURLoption option, ...);
	CURLcode (*perform)(CURL *curl);
	CURLcode (*get_info)(CURL *curl, CURLINFO info, ...);
	const char *(*words)(CURLcode code);
	void (*cleanup)(CURL *curl);
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_list)(struct curl_slist *list);
};

/* NULL with the reason, and what to do, where this machine has none. */
const struct libcurl *libcurl_load(struct err *err);

#endif
