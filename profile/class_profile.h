/*
 * Adds up what is accessed in the heap, by name: of every sampled access its class, the field (a
 * location of the profile), and the calling context. It needs no tracked object, so what is older
 * than the window is in it like anything else.
 *
 * A class is the one that the access tells; else that of the tracked object it met, with location
 * 0; else none, class 0. Field 0 is that of neither class nor location and takes what no longer
 * fits, so the fields' sums are always those of all accesses.
 *
 * Bounded by LIMIT_CLASS_FIELDS and LIMIT_CLASS_ACCESSES; what could not be told apart, or listed,
 * is counted in refused.
 */
#ifndef JXPERF_PROFILE_CLASS_PROFILE_H
#define JXPERF_PROFILE_CLASS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "profile/access_sum.h"

struct class_field {
	uint32_t class_name; /* a string of the profile; 0: not known */
	uint32_t location;   /* of the profile; 0: not known */
	struct access_moments sum;
	struct access_sum tracked; /* of these, what met a tracked object */
};

/* The accesses to one field from one calling context. */
struct class_access {
	uint32_t field; /* position */
	uint32_t node;
	uint64_t samples;
	double metric;
};

/* All zero is an empty profile. */
struct class_profile {
	TABLE_OF(struct class_field, fields, field_count, field_table);
	TABLE_OF(struct class_access, accesses, access_count, access_table);
	uint64_t refused;
};

extern const struct table_layout class_field_layout, class_access_layout;

void class_profile_release(struct class_profile *c);

/* The position of a field, new or known; 0 where there is no room for it. 0 or -ENOMEM. */
int class_profile_field(struct class_profile *c, uint32_t class_name, uint32_t location,
			uint32_t *field);

/* One access to the field, whose position is known. 0 or -ENOMEM. */
int class_profile_add(struct class_profile *c, uint32_t field, uint32_t node, double weight,
		      bool tracked);

#endif
