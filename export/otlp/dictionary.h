/*
 * The tables that all profiles of an OTLP request share: strings, functions, locations, stacks,
 * attributes. An item is kept as the bytes that it is in the request, and each of them once: items
 * that say the same are the same bytes, since what they refer to is in its table once, too.
 *
 * Index 0 of each table is the empty item, which stands for none. Who adds an item refers to it, so
 * there are none that nothing refers to (ProfilesDictionary in opentelemetry-proto's
 * profiles.proto has these rules).
 *
 * An error is kept; what is added behind it has index 0 and does not matter. One thread.
 */
#ifndef JXPERF_EXPORT_OTLP_DICTIONARY_H
#define JXPERF_EXPORT_OTLP_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "export/protobuf/protobuf.h"
#include "profile/container/hash_index.h"

/* Fields of the message ProfilesDictionary. */
enum otlp_table {
	OTLP_MAPPINGS = 1,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_LINKS,
	OTLP_STRINGS,
	OTLP_ATTRIBUTES,
	OTLP_STACKS,
	OTLP_TABLES,
};

struct otlp_items {
	struct protobuf bytes; /* of all items, one behind the other */
	size_t *ends;          /* of each of them */
	size_t count, capacity;
	struct hash_index index;
};

/* All zero before otlp_dictionary_init. */
struct otlp_dictionary {
	struct otlp_items tables[OTLP_TABLES];
	struct protobuf item; /* the one that is put together */
	int error;            /* 0 or -ENOMEM */
};

/* 0 or -ENOMEM; released in either case. */
int otlp_dictionary_init(struct otlp_dictionary *d);
void otlp_dictionary_release(struct otlp_dictionary *d);

/* How many bytes it takes in a request, at most. */
size_t otlp_dictionary_bytes(const struct otlp_dictionary *d);

/* Each gives the item's index. */
uint32_t otlp_string(struct otlp_dictionary *d, const char *text);
uint32_t otlp_function(struct otlp_dictionary *d, const char *name, const char *file);

/* A line of a function; line 0: not known. type: of the frame ("jvm"), "" where it is none. */
uint32_t otlp_location(struct otlp_dictionary *d, uint32_t function, uint64_t line,
		       const char *type);

/* Of locations, the leaf first. */
uint32_t otlp_stack(struct otlp_dictionary *d, const uint32_t *locations, size_t count);

uint32_t otlp_attribute_text(struct otlp_dictionary *d, const char *key, const char *text);
uint32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value,
			       const char *unit);
uint32_t otlp_attribute_double(struct otlp_dictionary *d, const char *key, double value,
			       const char *unit);

/* Writes the message into that field. */
void otlp_dictionary_write(const struct otlp_dictionary *d, struct protobuf *out, unsigned field);

#endif
