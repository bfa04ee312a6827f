#include "fleet/report/reader.h"

#include <math.h>
#include <string.h>

#include "common/utf8.h"
#include "export/clickhouse/columns.h"

/* As large as squares in a record of the store may be (profile/container/table_codec.c). */
#define NUMBER_MAX 0x1p400

void reader_bytes(struct fleet_reader *r, void *out, size_t size)
{
	memset(out, 0, size);
	if (r->failed || (size_t)(r->end - r->at) < size) {
		r->failed = true;
		return;
	}
	memcpy(out, r->at, size);
	r->at += size;
}

static uint64_t whole(struct fleet_reader *r, size_t size)
{
	uint64_t value = 0;

	reader_bytes(r, &value, size); /* Little endian. */
	return value;
}

uint8_t reader_u8(struct fleet_reader *r)
{
	return (uint8_t)whole(r, sizeof(uint8_t));
}

uint32_t reader_u32(struct fleet_reader *r)
{
	return (uint32_t)whole(r, sizeof(uint32_t));
}

uint64_t reader_u64(struct fleet_reader *r)
{
	return whole(r, sizeof(uint64_t));
}

double reader_f64(struct fleet_reader *r)
{
	double value;

	reader_bytes(r, &value, sizeof(value));
	if (fabs(value) <= NUMBER_MAX) /* Not where it is no number. */
		return value;
	r->failed = true;
	return 0;
}

uint64_t reader_length(struct fleet_reader *r)
{
	uint64_t length = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint8_t byte = reader_u8(r);

		length |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return length;
	}
	r->failed = true;
	return 0;
}

/* What has so many elements of at least a byte each is no longer than what is left. */
static uint64_t elements(struct fleet_reader *r)
{
	uint64_t count = reader_length(r);

	if (count <= (uint64_t)(r->end - r->at))
		return count;
	r->failed = true;
	return 0;
}

void reader_text(struct fleet_reader *r, char out[FLEET_TEXT_BYTES])
{
	uint64_t length = elements(r);
	size_t kept = length < FLEET_TEXT_BYTES ? length : FLEET_TEXT_BYTES - 1;
	char raw[FLEET_TEXT_BYTES];

	memcpy(raw, r->at, kept);
	raw[kept] = '\0';
	r->at += length;
	(void)utf8_sanitize(out, FLEET_TEXT_BYTES, raw); /* May be cut. */
}

size_t reader_type_size(unsigned type)
{
	static const size_t sizes[HOUSE_TYPES] = {
	    [HOUSE_U8] = 1,
	    [HOUSE_U16] = 2,
	    [HOUSE_U32] = 4,
	    [HOUSE_U64] = 8,
	    [HOUSE_I32] = 4,
	    [HOUSE_F64] = 8,
	    [HOUSE_HASH] = HOUSE_HASH_BYTES,
	    [HOUSE_DATE] = 2,
	    [HOUSE_TIME] = 4,
	};

	return sizes[type];
}

static void skip_bytes(struct fleet_reader *r, uint64_t size)
{
	if (r->failed || (uint64_t)(r->end - r->at) < size)
		r->failed = true;
	else
		r->at += size;
}

void reader_skip(struct fleet_reader *r, unsigned type, bool array)
{
	uint64_t count = array ? elements(r) : 1;

	for (uint64_t i = 0; i < count && !r->failed; i++)
		skip_bytes(r, type == HOUSE_TEXT ? elements(r) : reader_type_size(type));
}
