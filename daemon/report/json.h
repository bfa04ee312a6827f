/*
 * What the parts of the JSON report share.
 */
#ifndef JXPERF_DAEMON_REPORT_JSON_H
#define JXPERF_DAEMON_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "daemon/window/result.h"

/* Frames are shared between the parts of a document: one object for each node that was needed. */
struct json_writer {
	const struct window_result *window;
	json_t **frames; /* by node id, NULL until needed */
	size_t frames_left;
	size_t name_bytes_left; /* of those frames */
};

static inline void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

/* The calling context, leaf first; [] for node 0. A new reference, or NULL without memory. */
json_t *report_json_frames(struct json_writer *writer, uint32_t node);

/* Takes the frames of two calling contexts (0: none), and the bytes of their names, from what the
 * document may hold. False, with nothing taken, when there is not enough left. */
bool report_json_take_contexts(struct json_writer *writer, uint32_t node, uint32_t other);

/* The members "objects", with at most sites of them, and "objects_summary", as new references. 0 or
 * -ENOMEM. */
int report_json_objects(struct json_writer *writer, size_t sites, json_t **objects,
			json_t **summary);

/* The member "numa" of a report, and of an allocation site. New references, or NULL without memory.
 */
json_t *report_json_numa(const struct window_result *w);
json_t *report_json_site_numa(const struct window_result *w, const struct numa_site *s);

#endif
