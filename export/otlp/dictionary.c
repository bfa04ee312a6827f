#include "export/otlp/dictionary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/container/hash.h"

/* Before an item: its field, and its length. */
#define ITEM_HEAD_BYTES 6

/* Of AnyValue. */
enum { VALUE_STRING = 1, VALUE_INT = 3, VALUE_DOUBLE = 4 };

struct item {
	const uint8_t *bytes;
	size_t size;
};

static struct item item_at(const struct otlp_items *table, size_t position)
{
	size_t begin = position > 0 ? table->ends[position - 1] : 0;
	size_t size = table->ends[position] - begin;

	/* A table of nothing but the empty item has no bytes. */
	return (struct item){size > 0 ? table->bytes.bytes + begin : NULL, size};
}

static bool matches(const void *table, uint32_t position, const void *key)
{
	struct item at = item_at(table, position);
	const struct item *wanted = key;

	return at.size == wanted->size &&
	       (at.size == 0 || memcmp(at.bytes, wanted->bytes, at.size) == 0);
}

static int add(struct otlp_items *table, const struct item *item, uint32_t hash)
{
	int r =
	    array_reserve(&table->ends, &table->capacity, table->count + 1, sizeof(table->ends[0]));

	if (r < 0)
		return r;
	r = array_reserve(&table->bytes.bytes, &table->bytes.capacity,
			  table->bytes.used + item->size, 1);
	if (r < 0)
		return r;
	if (item->size > 0)
		memcpy(table->bytes.bytes + table->bytes.used, item->bytes, item->size);
	table->bytes.used += item->size;
	table->ends[table->count] = table->bytes.used;
	return hash_index_insert(&table->index, hash, (uint32_t)table->count++);
}

static uint32_t intern(struct otlp_dictionary *d, enum otlp_table which, const void *bytes,
		       size_t size)
{
	struct otlp_items *table = &d->tables[which];
	struct item item = {bytes, size};
	uint32_t hash = hash_bytes(bytes, size), position;

	if (d->error < 0)
		return 0;
	if (hash_index_find(&table->index, hash, matches, table, &item, &position))
		return position;
	d->error = add(table, &item, hash);
	return d->error < 0 ? 0 : (uint32_t)table->count - 1;
}

/* The item that was put together. */
static uint32_t intern_item(struct otlp_dictionary *d, enum otlp_table which)
{
	if (d->error == 0)
		d->error = d->item.error;
	return intern(d, which, d->item.bytes, d->item.used);
}

int otlp_dictionary_init(struct otlp_dictionary *d)
{
	for (enum otlp_table i = OTLP_MAPPINGS; i < OTLP_TABLES; i++)
		(void)intern(d, i, "", 0); /* Index 0. */
	return d->error;
}

void otlp_dictionary_release(struct otlp_dictionary *d)
{
	for (enum otlp_table i = OTLP_MAPPINGS; i < OTLP_TABLES; i++) {
		protobuf_release(&d->tables[i].bytes);
		free(d->tables[i].ends);
		hash_index_release(&d->tables[i].index);
	}
	protobuf_release(&d->item);
	*d = (struct otlp_dictionary){0};
}

size_t otlp_dictionary_bytes(const struct otlp_dictionary *d)
{
	size_t bytes = 0;

	for (enum otlp_table i = OTLP_MAPPINGS; i < OTLP_TABLES; i++)
		bytes += d->tables[i].bytes.used + d->tables[i].count * ITEM_HEAD_BYTES;
	return bytes;
}

uint32_t otlp_string(struct otlp_dictionary *d, const char *text)
{
	return intern(d, OTLP_STRINGS, text, strlen(text));
}

/* Function.name_strindex, .filename_strindex */
uint32_t otlp_function(struct otlp_dictionary *d, const char *name, const char *file)
{
	uint32_t name_at = otlp_string(d, name), file_at = otlp_string(d, file);

	protobuf_clear(&d->item);
	protobuf_number(&d->item, 1, name_at);
	protobuf_number(&d->item, 3, file_at);
	return intern_item(d, OTLP_FUNCTIONS);
}

/* Location.lines, of Line.function_index and .line; Location.attribute_indices */
uint32_t otlp_location(struct otlp_dictionary *d, uint32_t function, uint64_t line,
		       const char *type)
{
	uint32_t attribute = type[0] ? otlp_attribute_text(d, "profile.frame.type", type) : 0;
	size_t begun;

	protobuf_clear(&d->item);
	begun = protobuf_begin(&d->item, 3);
	protobuf_number(&d->item, 1, function);
	protobuf_number(&d->item, 2, line);
	protobuf_end(&d->item, begun);
	protobuf_numbers(&d->item, 4, &attribute, type[0] ? 1 : 0);
	return intern_item(d, OTLP_LOCATIONS);
}

/* Stack.location_indices */
uint32_t otlp_stack(struct otlp_dictionary *d, const uint32_t *locations, size_t count)
{
	protobuf_clear(&d->item);
	protobuf_numbers(&d->item, 1, locations, count);
	return intern_item(d, OTLP_STACKS);
}

/* KeyValueAndUnit.key_strindex, .value, .unit_strindex; the value between the two. */
static size_t begin_attribute(struct otlp_dictionary *d, const char *key)
{
	uint32_t key_at = otlp_string(d, key);

	protobuf_clear(&d->item);
	protobuf_number(&d->item, 1, key_at);
	return protobuf_begin(&d->item, 2);
}

static uint32_t end_attribute(struct otlp_dictionary *d, size_t begun, const char *unit)
{
	protobuf_end(&d->item, begun);
	protobuf_number(&d->item, 3, otlp_string(d, unit));
	return intern_item(d, OTLP_ATTRIBUTES);
}

uint32_t otlp_attribute_text(struct otlp_dictionary *d, const char *key, const char *text)
{
	size_t begun = begin_attribute(d, key);

	protobuf_bytes(&d->item, VALUE_STRING, text, strlen(text));
	return end_attribute(d, begun, "");
}

uint32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value,
			       const char *unit)
{
	size_t begun = begin_attribute(d, key);

	protobuf_chosen_number(&d->item, VALUE_INT, (uint64_t)value);
	return end_attribute(d, begun, unit);
}

uint32_t otlp_attribute_double(struct otlp_dictionary *d, const char *key, double value,
			       const char *unit)
{
	size_t begun = begin_attribute(d, key);

	protobuf_chosen_double(&d->item, VALUE_DOUBLE, value);
	return end_attribute(d, begun, unit);
}

void otlp_dictionary_write(const struct otlp_dictionary *d, struct protobuf *out, unsigned field)
{
	size_t begun = protobuf_begin(out, field);

	for (enum otlp_table i = OTLP_MAPPINGS; i < OTLP_TABLES; i++)
		for (size_t j = 0; j < d->tables[i].count; j++) {
			struct item item = item_at(&d->tables[i], j);

			protobuf_bytes(out, i, item.bytes, item.size);
		}
	protobuf_end(out, begun);
}
