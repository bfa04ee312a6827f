/*
 * Finds the names, methods and calling contexts of one profile in another, where they have other
 * ids.
 *
 * What does not fit into the other profile any more is 0 there (no name, no method, no context),
 * and is counted as the same loss in a window is.
 */
#ifndef JXPERF_DAEMON_COMBINE_NAMES_H
#define JXPERF_DAEMON_COMBINE_NAMES_H

#include <stdint.h>

#include "daemon/profile/profile.h"
#include "daemon/window/loss.h"

enum names_by {
	/* As they are: methods by class, name and file, contexts by parent, method, bci, line and
	 * tier. */
	NAMES_EXACT,
	/* What another build or run of the same program has, too: methods by class and name,
	 * contexts by these, and no numbers that a JVM gives to the classes it makes. */
	NAMES_OF_PROGRAM,
};

/* By id of the one profile, ids of the other. All zero is empty. */
struct names_map {
	uint32_t *methods;
	uint32_t *nodes;
};

/* All methods and contexts of from, added to to where they are new. 0 or -ENOMEM, and then the map
 * is empty. */
int names_map_init(struct names_map *m, struct profile *to, const struct profile *from,
		   enum names_by by, uint64_t losses[LOSS_MAX]);
void names_map_release(struct names_map *m);

/* The id in to of a text of from; of a class by NAMES_OF_PROGRAM, of the program's name of it. 0 or
 * -ENOMEM. */
int names_text(struct profile *to, const struct profile *from, uint32_t id, uint32_t *out,
	       uint64_t losses[LOSS_MAX]);
int names_class(struct profile *to, const struct profile *from, uint32_t id, enum names_by by,
		uint32_t *out, uint64_t losses[LOSS_MAX]);

#endif
