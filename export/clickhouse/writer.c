#include "export/clickhouse/writer.h"

#include <string.h>

#include "compare/side.h"

int house_put(struct house_writer *w, const void *bytes, size_t size)
{
	return buffer_append(&w->buffer, bytes, size);
}

int house_put_u8(struct house_writer *w, uint8_t value)
{
	return house_put(w, &value, sizeof(value));
}

int house_put_u16(struct house_writer *w, uint16_t value)
{
	return house_put(w, &value, sizeof(value));
}

int house_put_u32(struct house_writer *w, uint32_t value)
{
	return house_put(w, &value, sizeof(value));
}

int house_put_u64(struct house_writer *w, uint64_t value)
{
	return house_put(w, &value, sizeof(value));
}

int house_put_f64(struct house_writer *w, double value)
{
	return house_put(w, &value, sizeof(value));
}

int house_put_length(struct house_writer *w, uint64_t length)
{
	uint8_t bytes[VARINT_BYTES];

	return house_put(w, bytes, varint_pack(bytes, length));
}

int house_put_text(struct house_writer *w, const char *text)
{
	size_t size = strlen(text);
	int r = house_put_length(w, size);

	return r < 0 ? r : house_put(w, text, size);
}

int house_put_class(struct house_writer *w, const char *name)
{
	char unnumbered[LIMIT_STRING_BYTES + 1];

	return house_put_text(w, compare_unnumbered(unnumbered, name));
}

int house_put_kind(struct house_writer *w, Jxp__Kind kind)
{
	const struct pair_kind *known = pair_kind_find(kind);

	return house_put_text(w, known ? known->name : "");
}
