#include "client/fleet/libcurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBRARY "libcurl.so.4"

static const struct {
	const char *name;
	size_t at;
} functions[] = {
    {"curl_easy_init", offsetof(struct libcurl, init)},
    {"curl_easy_setopt", offsetof(struct libcurl, set)},
    {"curl_easy_perform", offsetof(struct libcurl, perform)},
    {"curl_easy_getinfo", offsetof(struct libcurl, get_info)},
    {"curl_easy_strerror", offsetof(struct libcurl, words)},
    {"curl_easy_cleanup", offsetof(struct libcurl, cleanup)},
    {"curl_slist_append", offsetof(struct libcurl, append)},
    {"curl_slist_free_all", offsetof(struct libcurl, free_list)},
};

const struct libcurl *libcurl_load(struct err *err)
{
	static struct libcurl found;
	static bool loaded;
	void *library = loaded ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	size_t i = 0;

	while (library && i < sizeof(functions) / sizeof(functions[0])) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			break;
		*(void **)((char *)&found + functions[i++].at) = function;
	}
	loaded |= i == sizeof(functions) / sizeof(functions[0]);
	if (loaded)
		return &found;
	(void)err_set(err, ENOENT,
		      "a fleet's server is asked with " LIBRARY ", and there is none to use: "
		      "install libcurl (%s)",
		      dlerror());
	return NULL;
}
