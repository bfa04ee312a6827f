/*
 * Tells what a place in an object is called: its class, and the field, element or part of the
 * header that lies there.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_PLACE_NAMES_H
#define JXPERF_AGENT_JVM_PLACE_NAMES_H

#include <stdbool.h>

#include "common/code/insn.h"
#include "attach/agent/code/region.h"
#include "attach/agent/place/object_layout.h"
#include "attach/agent/place/place.h"
#include "proto/jxperf.pb-c.h"

/* Texts are to be freed; NULL where there is none. */
struct place_name {
	Jxp__Location__Kind kind;
	char *class_name;
	char *field;
	char *declared_in;
	char *type;
	/* Where it lies in an object that is no array; 0 bytes where that is not told. */
	uint32_t offset;
	uint32_t bytes;
	uint32_t object_bytes;
	bool typed; /* the values that lie there are told: */
	enum insn_element element;
};

/* False, with nothing to be released, when the class is not there any more or memory is short. */
bool place_name_resolve(const struct object_layout *layout, const struct region_map *regions,
			const struct place *place, struct place_name *out);

void place_name_release(struct place_name *n);

#endif
