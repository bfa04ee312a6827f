/*
 * Fuzzes the reader of reports that are compared, which are files from anywhere, and compares what
 * it takes with itself and with nothing. libFuzzer entry point.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compare/comparison.h"
#include "compare/side_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compare_side sides[2] = {{.pid = 0}, {.pid = 0}};
	struct comparison c;
	struct err err;
	int r = compare_side_read(&sides[0], "a.json", data, size, &err);

	if (r == 0)
		r = compare_side_read(&sides[1], "b.json", data, size, &err);
	if (r == 0 && comparison_init(&c, sides, NULL, &err) == 0) {
		if (comparison_is_shown(&c)) /* Of one with itself. */
			abort();
		comparison_release(&c);
	}
	compare_side_release(&sides[0]);
	compare_side_release(&sides[1]);
	return 0;
}
