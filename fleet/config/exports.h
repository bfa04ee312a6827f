/*
 * The destinations that the key `export` names: what its values mean, checked and completed with
 * defaults. Internal to fleet/config.
 */
#ifndef JXPERF_FLEET_CONFIG_EXPORTS_H
#define JXPERF_FLEET_CONFIG_EXPORTS_H

#include "fleet/config/config.h"
#include "fleet/config/places.h"
#include "fleet/config/schema.h"

/* What is wrong, and where. */
struct exports_complaint {
	char path[PLACE_PATH_BYTES];
	struct err why;
};

/* One destination, the index-th of its file; its texts stay the file's, an address loses the '/' at
 * its end. 0, or -EINVAL. */
int exports_take(const struct config *c, const struct schema_export *from, unsigned index,
		 struct config_export *to, struct exports_complaint *complaint);

#endif
