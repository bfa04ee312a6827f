/*
 * Fuzzes the reader of performance data files, which belong to the target. libFuzzer entry point.
 *
 * The input up to its first newline is the name looked for, the rest is the file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/hsperfdata.h"

#define NAME_BYTES  64
#define VALUE_BYTES 32 /* short, so that values are cut */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t name_bytes = end ? (size_t)(end - data) : 0;
	char name[NAME_BYTES], value[VALUE_BYTES];
	size_t offset;

	if (!end || name_bytes >= sizeof(name))
		return 0;
	memcpy(name, data, name_bytes);
	name[name_bytes] = '\0';
	if (hsperfdata_string(end + 1, size - name_bytes - 1, name, value, sizeof(value)) &&
	    strnlen(value, sizeof(value)) == sizeof(value))
		abort();
	if (hsperfdata_number(end + 1, size - name_bytes - 1, name, &offset) &&
	    offset + sizeof(uint64_t) > size - name_bytes - 1)
		abort();
	return 0;
}
