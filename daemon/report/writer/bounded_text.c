#include "daemon/report/writer/bounded_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of a text's memory, which doubles. */
#define FIRST_BYTES ((size_t)4096)

/* Where a report is written to: memory that never grows beyond what may be sent. */
struct bounded_text {
	char *text; /* size bytes and a NUL */
	size_t size;
	size_t capacity; /* without the NUL */
	size_t max;
	int error; /* of the first write that failed */
	const atomic_bool *cancelled;
};

static bool bounded_text_reserve(struct bounded_text *b, size_t size)
{
	size_t capacity = b->capacity ? b->capacity : FIRST_BYTES;
	char *grown;

	while (capacity < size)
		capacity *= 2;
	if (b->text && capacity == b->capacity)
		return true;
	grown = realloc(b->text, capacity + 1);
	if (!grown)
		return false;
	b->text = grown;
	b->capacity = capacity;
	return true;
}

static ssize_t bounded_text_write(void *cookie, const char *bytes, size_t size)
{
	struct bounded_text *b = cookie;

	if (b->error == 0 && b->cancelled && atomic_load(b->cancelled))
		b->error = -ECANCELED;
	else if (b->error == 0 && size > b->max - b->size)
		b->error = -EMSGSIZE;
	else if (b->error == 0 && !bounded_text_reserve(b, b->size + size))
		b->error = -ENOMEM;
	if (b->error < 0)
		return 0; /* fopencookie's failure. */
	memcpy(b->text + b->size, bytes, size);
	b->size += size;
	b->text[b->size] = '\0';
	return (ssize_t)size;
}

/* 0, -EMSGSIZE when it would have more than max_bytes, -ECANCELED or -ENOMEM. */
static int write_once(const atomic_bool *cancelled, bounded_write_fn *write, const void *what,
		      size_t rows, size_t max_bytes, char **text, size_t *size)
{
	struct bounded_text bounded = {.max = max_bytes, .cancelled = cancelled};
	FILE *out;
	int r;

	if (!bounded_text_reserve(&bounded, 0))
		return -ENOMEM;
	bounded.text[0] = '\0';
	out = fopencookie(&bounded, "w", (cookie_io_functions_t){.write = bounded_text_write});
	if (!out) {
		free(bounded.text);
		return -ENOMEM;
	}
	r = write(out, what, rows);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (bounded.error < 0)
		r = bounded.error; /* What the writer took for something else. */
	if (r < 0) {
		free(bounded.text);
		return r;
	}
	*text = bounded.text;
	*size = bounded.size;
	return 0;
}

int bounded_text_new(const atomic_bool *cancelled, bounded_write_fn *write, const void *what,
		     size_t rows, size_t max_bytes, char **text, size_t *size)
{
	for (;;) {
		int r = write_once(cancelled, write, what, rows, max_bytes, text, size);

		if (r != -EMSGSIZE || rows == 0)
			return r;
		rows /= 2;
	}
}

int bounded_text_result(int r, struct err *err)
{
	switch (r) {
	case 0:
		return 0;
	case -ECANCELED:
		return err_set(err, ECANCELED, "nobody wants the report any more");
	case -EMSGSIZE:
		return err_set(err, EMSGSIZE, "the report does not fit into one message");
	default:
		return err_set(err, -r, "out of memory while writing the report");
	}
}
