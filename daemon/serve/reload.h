/*
 * What became of a configuration that was read anew: which of its keys hold from now on, and which
 * when jxperfd is restarted, by what runs and not by what was read last.
 */
#ifndef JXPERF_DAEMON_SERVE_RELOAD_H
#define JXPERF_DAEMON_SERVE_RELOAD_H

#include <stddef.h>

#include "common/err.h"

#define RELOAD_KEYS_MAX 16

struct reload_keys {
	const char *keys[RELOAD_KEYS_MAX]; /* static strings */
	size_t count;
};

struct reload_answer {
	struct reload_keys now;
	struct reload_keys later;
};

static inline void reload_keys_add(struct reload_keys *k, const char *key)
{
	if (k->count < RELOAD_KEYS_MAX) /* There are not so many. */
		k->keys[k->count++] = key;
}

/* In words for people: "'schedules' holds from now on; 'http' when jxperfd is restarted". */
void reload_answer_say(const struct reload_answer *a, char text[ERR_MESSAGE_MAX]);

#endif
