#include "daemon/store/record.h"

#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "profile/container/table_codec.h"
#include "daemon/store/packed.h"
#include "profile/window/tables.h"

/* From this one on records of before have no tables. */
#define FIRST_LATER_TABLE TABLE_SHARING

static int pack_table(struct buffer *out, const struct window_result *w, unsigned number)
{
	const struct window_table *t = &window_tables[number];
	const struct row_table *table = window_table_of(w, number);

	return t->rows ? table_pack(out, number, t->layout, window_rows_of(w, number), t->rows)
		       : table_pack(out, number, t->layout, table->rows, table->count);
}

int record_encode(const struct window_result *w, uint8_t **bytes, size_t *size)
{
	_cleanup_(buffer_release) struct buffer plain;
	int r;

	buffer_init(&plain, RECORD_MAX_BYTES);
	r = table_pack_strings(&plain, &w->profile.strings);
	for (unsigned i = 0; r == 0 && i < PROFILE_TABLES; i++)
		r = pack_table(&plain, w, i);
	if (r < 0)
		return r == -ENOBUFS ? -EMSGSIZE : r;
	return packed_new(buffer_head(&plain), buffer_length(&plain), bytes, size);
}

static int unpack_table(struct table_reader *reader, struct window_result *w, unsigned number,
			size_t *count)
{
	const struct window_table *t = &window_tables[number];
	int r;

	if (t->rows) {
		r = table_unpack_rows(reader, number, t->layout, window_rows_of(w, number),
				      t->rows);
		*count = r < 0 ? 0 : (size_t)r;
		return r < 0 ? r : 0;
	}
	r = table_unpack(reader, number, t->layout, window_table_of(w, number));
	*count = window_table_of(w, number)->count;
	return r;
}

static int unpack(const uint8_t *plain, size_t size, struct window_result *w)
{
	size_t counts[PROFILE_TABLES] = {0};
	struct table_reader reader = {plain, plain + size, &w->profile.strings, counts};
	int r = table_unpack_strings(&reader, &w->profile.strings);

	for (unsigned i = 0; r == 0 && i < PROFILE_TABLES; i++)
		if (i < FIRST_LATER_TABLE || reader.at != reader.end)
			r = unpack_table(&reader, w, i, &counts[i]);
	if (r < 0)
		return r;
	if (reader.at != reader.end || counts[TABLE_WINDOW] != 1 || !cct_measure(&w->profile.cct))
		return -EBADMSG;
	memset(w->findings.numa.node_of_cpu, NUMA_NONE, sizeof(w->findings.numa.node_of_cpu));
	loop_profile_link(&w->loops);
	return 0;
}

int record_decode(const uint8_t *bytes, size_t size, unsigned number, struct window_result **out,
		  struct err *err)
{
	_cleanup_free_ uint8_t *plain = NULL;
	size_t plain_size = 0;
	struct window_result *w;
	int r = packed_open(bytes, size, RECORD_MAX_BYTES, &plain, &plain_size, err);

	if (r < 0)
		return r;
	w = window_result_restored(number);
	r = w ? unpack(plain, plain_size, w) : -ENOMEM;
	if (r < 0) {
		window_result_free(w);
		return r == -ENOMEM ? err_set(err, ENOMEM, "out of memory for its record")
				    : err_set(err, EBADMSG,
					      "its record is damaged: what it says "
					      "does not fit together");
	}
	*out = w;
	return 0;
}
