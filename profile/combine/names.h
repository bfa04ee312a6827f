/*
 * Finds the names, methods, calling contexts and locations of one profile in another, where they
 * have other ids.
 *
 * A JVM numbers the classes that it makes itself (lambdas, proxies, reflection), differently each
 * time that it runs. Here they have no numbers: all lambdas of a class are one.
 *
 * What does not fit into the other profile any more is 0 there (no name, method, context or place),
 * and is counted as the same loss in a window is.
 */
#ifndef JXPERF_PROFILE_COMBINE_NAMES_H
#define JXPERF_PROFILE_COMBINE_NAMES_H

#include <stdint.h>

#include "profile/profile.h"
#include "profile/window/loss.h"

enum names_by {
	/* Methods by class, name and file, contexts by parent, method, bci, line and tier. */
	NAMES_WITH_LINES,
	/* Another build of the same program has these names, too: methods by class and name,
	 * contexts by parent and method. */
	NAMES_OF_METHODS,
};

/* By id of the one profile, ids of the other. All zero is empty. */
struct names_map {
	uint32_t *methods;
	uint32_t *nodes;
	uint32_t *locations;
};

/* All methods, contexts and locations of from, added to to where they are new. 0 or -ENOMEM, and
 * then the map is empty. */
int names_map_init(struct names_map *m, struct profile *to, const struct profile *from,
		   enum names_by by, uint64_t losses[LOSS_MAX]);
void names_map_release(struct names_map *m);

/* Adds what to may know already: ids in it are to's own. 0, also where it does not fit, which *out
 * = 0 says and losses count; or -ENOMEM. */
int names_intern(struct profile *to, const char *text, uint32_t *out, uint64_t losses[LOSS_MAX]);
int names_add_method(struct profile *to, const struct cct_method *method, uint32_t *out,
		     uint64_t losses[LOSS_MAX]);
int names_add_node(struct profile *to, const struct cct_node *node, uint32_t *out,
		   uint64_t losses[LOSS_MAX]);
int names_add_location(struct profile *to, const struct location *location, uint32_t *out,
		       uint64_t losses[LOSS_MAX]);

/* The id in to of a text of from, and of a class's name. 0 or -ENOMEM. */
int names_text(struct profile *to, const struct profile *from, uint32_t id, uint32_t *out,
	       uint64_t losses[LOSS_MAX]);
int names_class(struct profile *to, const struct profile *from, uint32_t id, uint32_t *out,
		uint64_t losses[LOSS_MAX]);

#endif
