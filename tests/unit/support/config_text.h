/*
 * A configuration that is one text: as config_load, with *c unchanged on failure.
 */
#ifndef JXPERF_TESTS_CONFIG_TEXT_H
#define JXPERF_TESTS_CONFIG_TEXT_H

#include "fleet/config/config.h"

static inline int config_parse(struct config *c, const char *name, const char *text, size_t size,
			       struct err *err)
{
	struct config made;
	int r;

	config_defaults(&made);
	r = config_add(&made, name, text, size, err);
	if (r < 0)
		config_release(&made);
	else
		*c = made;
	return r;
}

#endif
