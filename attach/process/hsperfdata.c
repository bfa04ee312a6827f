#include "attach/process/hsperfdata.h"

#include <stdint.h>
#include <string.h>

#define PROLOGUE_BYTES     32
#define OFFSET_BYTE_ORDER  4
#define OFFSET_MAJOR       5
#define OFFSET_FIRST_ENTRY 24
#define OFFSET_ENTRIES     28
#define MAJOR_VERSION      2
#define LITTLE_ENDIAN_DATA 1

#define ENTRY_HEADER_BYTES 20
#define ENTRY_NAME_OFFSET  4
#define ENTRY_LENGTH       8
#define ENTRY_TYPE         12
#define ENTRY_DATA_OFFSET  16

static const uint8_t magic[4] = {0xca, 0xfe, 0xc0, 0xc0};

struct area {
	const uint8_t *start;
	size_t size;
};

static uint32_t word(struct area a, size_t offset)
{
	uint32_t value;

	memcpy(&value, a.start + offset, sizeof(value));
	return value;
}

/* The string at offset, which must be inside the entry. */
static struct area string_at(struct area entry, uint32_t offset, size_t longest)
{
	struct area s = {NULL, 0};

	if (offset >= entry.size)
		return s;
	if (longest > entry.size - offset)
		longest = entry.size - offset;
	s.start = entry.start + offset;
	s.size = strnlen((const char *)s.start, longest);
	return s;
}

static bool has_name(struct area entry, const char *wanted)
{
	struct area name = string_at(entry, word(entry, ENTRY_NAME_OFFSET), entry.size);

	return name.start && name.size == strlen(wanted) &&
	       memcmp(name.start, wanted, name.size) == 0;
}

/* The value of a string entry; start is NULL for any other. */
static struct area string_value(struct area entry)
{
	uint32_t length = word(entry, ENTRY_LENGTH);

	if (entry.start[ENTRY_TYPE] != 'B' || length == 0)
		return (struct area){NULL, 0};
	return string_at(entry, word(entry, ENTRY_DATA_OFFSET), length);
}

/* The value of an entry that is one number; start is NULL for any other. */
static struct area number_value(struct area entry)
{
	uint32_t offset = word(entry, ENTRY_DATA_OFFSET);

	if (entry.start[ENTRY_TYPE] != 'J' || word(entry, ENTRY_LENGTH) != 0 ||
	    offset > entry.size || entry.size - offset < sizeof(uint64_t))
		return (struct area){NULL, 0};
	return (struct area){entry.start + offset, sizeof(uint64_t)};
}

static bool known_format(struct area all)
{
	return all.size >= PROLOGUE_BYTES && memcmp(all.start, magic, sizeof(magic)) == 0 &&
	       all.start[OFFSET_BYTE_ORDER] == LITTLE_ENDIAN_DATA &&
	       all.start[OFFSET_MAJOR] == MAJOR_VERSION;
}

/* The first entry with that name of which value_of finds a value; start is NULL without one. */
static struct area find_value(struct area all, const char *name,
			      struct area (*value_of)(struct area entry))
{
	const struct area none = {NULL, 0};
	uint32_t entries;
	size_t at;

	if (!known_format(all))
		return none;
	at = word(all, OFFSET_FIRST_ENTRY);
	entries = word(all, OFFSET_ENTRIES);
	/* Every entry has at least its header, so the loop ends with the data whatever entries
	 * says. */
	for (uint32_t i = 0; i < entries && at <= all.size; i++) {
		struct area entry = {all.start + at, all.size - at}, found;
		uint32_t length;

		if (entry.size < ENTRY_HEADER_BYTES)
			return none;
		length = word(entry, 0);
		if (length < ENTRY_HEADER_BYTES || length > entry.size)
			return none;
		entry.size = length;
		if (has_name(entry, name)) {
			found = value_of(entry);
			if (found.start)
				return found;
		}
		at += length;
	}
	return none;
}

bool hsperfdata_string(const void *data, size_t data_bytes, const char *name, char *value,
		       size_t size)
{
	struct area found = find_value((struct area){data, data_bytes}, name, string_value);

	if (!found.start)
		return false;
	if (found.size >= size)
		found.size = size - 1;
	memcpy(value, found.start, found.size);
	value[found.size] = '\0';
	return true;
}

bool hsperfdata_number(const void *data, size_t data_bytes, const char *name, size_t *offset)
{
	struct area all = {data, data_bytes};
	struct area found = find_value(all, name, number_value);

	if (!found.start)
		return false;
	*offset = (size_t)(found.start - all.start);
	return true;
}
