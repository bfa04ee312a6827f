/*
 * Trees of JSON values that are put together piece by piece. Each function takes what it is given,
 * and gives the whole; without memory it frees both and gives NULL, and takes NULL as well, so that
 * only the last one's result has to be looked at.
 */
#ifndef JXPERF_COMMON_JSON_H
#define JXPERF_COMMON_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include "common/cleanup.h"

static inline void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

static inline json_t *json_unless(int error, json_t *whole)
{
	if (error == 0)
		return whole;
	json_decref(whole);
	return NULL;
}

/* An array, with one more value at its end. */
static inline json_t *json_appended(json_t *array, json_t *value)
{
	return json_unless(json_array_append_new(array, value), array);
}

/* An object, with one more member. */
static inline json_t *json_with(json_t *object, const char *name, json_t *value)
{
	return json_unless(json_object_set_new(object, name, value), object);
}

/* An object of these members, in this order: JSON_OBJECT({"rows", json_integer(n)}, ...). */
struct json_member {
	const char *name;
	json_t *value;
};

/* A member with a text; none where that is NULL. It is read twice. */
#define JSON_MEMBER_IF_ANY(name, text)                  \
	{                                               \
		(text) ? (name) : NULL, json_text(text) \
	}

/* A member with a number; none unless it is known. */
#define JSON_MEMBER_IF_KNOWN(known, name, number)                              \
	{                                                                      \
		(known) ? (name) : NULL, (known) ? json_integer(number) : NULL \
	}

#define JSON_OBJECT(...)                                                    \
	json_of_members((const struct json_member[]){__VA_ARGS__},          \
			sizeof((const struct json_member[]){__VA_ARGS__}) / \
			    sizeof(struct json_member))

static inline json_t *json_of_members(const struct json_member *members, size_t count)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		if (members[i].name)
			object = json_with(object, members[i].name, members[i].value);
	return object;
}

/* The same of one that is in a variable, to be filled line by line. */
static inline void json_put(json_t **object, const char *name, json_t *value)
{
	*object = json_with(*object, name, value);
}

static inline void json_push(json_t **array, json_t *value)
{
	*array = json_appended(*array, value);
}

/* An object, with all members of another one. */
static inline json_t *json_joined(json_t *object, json_t *more)
{
	int error = json_object_update(object, more);

	json_decref(more);
	return json_unless(error, object);
}

/* The number, or null where it is not known. */
static inline json_t *json_known(bool known, double number)
{
	return known ? json_real(number) : json_null();
}

/* The text, or null where there is none. */
static inline json_t *json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* An array of what row, a function of the context and a row, makes of the first rows: at most limit
 * of them, and none behind one that it makes null of, since there is no room for it. */
#define JSON_ROWS(context, rows, count, limit, row)                     \
	({                                                              \
		json_t *array_ = json_array(), *value_;                 \
		size_t count_ = (count), limit_ = (limit);              \
		for (size_t i_ = 0; i_ < count_ && i_ < limit_; i_++) { \
			value_ = row((context), &(rows)[i_]);           \
			if (json_is_null(value_))                       \
				break;                                  \
			array_ = json_appended(array_, value_);         \
		}                                                       \
		array_;                                                 \
	})

/* "[low, high]"; an end without a bound is null. */
static inline json_t *json_interval(double low, double high)
{
	return json_pack("[f, o]", low, json_known(isfinite(high), high));
}

#endif
