#include "tests/unit/support/test.h"
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/events.h"

TEST(records_of_every_type_are_passed_in_their_order)
{
	alignas(8) uint8_t bytes[4096] = {0};
	const struct event_head *event;
	size_t size = 0, at = 0;
	unsigned expected = EVENT_NONE + 1;

	for (unsigned type = expected; type < EVENT_TYPES; type++) {
		*(struct event_head *)(bytes + size) = event_head_of(type);
		size += event_sizes[type];
	}
	while ((event = event_next(bytes, size, &at))) {
		assert_int_equal(event->type, expected++);
		assert_int_equal((uintptr_t)event % 8, 0);
	}
	assert_int_equal(expected, EVENT_TYPES);
	assert_int_equal(at, size);
}

/* Whatever stands where a record begins, and however little of it: nothing beyond the end is read
 * (the bytes are a block of their own, for builds that see to that). */
TEST(what_is_no_whole_record_is_not_passed)
{
	for (unsigned type = 0; type <= UINT8_MAX; type++) {
		for (size_t size = 0; size <= 400; size++) {
			struct event_head head = {.type = (uint16_t)type, .size = (uint16_t)size};
			uint8_t *bytes = calloc(1, size + 1);
			bool known = type < EVENT_TYPES && size > 0 && event_sizes[type] == size;
			size_t at = 0;

			assert_non_null(bytes);
			memcpy(bytes, &head, size < sizeof(head) ? size : sizeof(head));
			assert_int_equal(event_next(bytes, size, &at) != NULL, known);
			assert_int_equal(at, known ? size : 0);
			at = 0;
			if (known)
				assert_null(event_next(bytes, size - 1, &at));
			free(bytes);
		}
	}
}
