#include "compare/members.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Where the reading is. */
struct reader {
	const char *text;
	size_t size;
	size_t at;
	size_t depth;
	struct member *members;
	size_t count;
	const char *key; /* of the member that comes, or NULL */
	size_t key_size;
	struct member *open; /* whose value is being read, or NULL */
};

static int cut(struct err *err)
{
	return err_set(err, EBADMSG, "it ends in the middle of a report: make it again");
}

static int no_json(struct err *err)
{
	return err_set(err, EBADMSG,
		       "it is no JSON: use a report that was made with --format json");
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Is it of numbers, true, false and null? */
static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' ||
	       c == '-' || c == '.' || is_space(c);
}

/* Moves to the quote that ends it. */
static bool pass_string(struct reader *r)
{
	for (r->at++; r->at < r->size && r->text[r->at] != '"'; r->at++)
		r->at += r->text[r->at] == '\\';
	return r->at < r->size;
}

static void open_member(struct reader *r)
{
	for (size_t i = 0; i < r->count && r->key; i++) {
		struct member *m = &r->members[i];

		if (strlen(m->name) != r->key_size || memcmp(m->name, r->key, r->key_size) != 0)
			continue;
		*m = (struct member){.name = m->name, .text = r->text + r->at + 1, .values = 1};
		r->open = m;
	}
}

static void close_member(struct reader *r)
{
	if (r->open)
		r->open->size = (size_t)(r->text + r->at - r->open->text);
	r->open = NULL;
	r->key = NULL;
}

/* Takes the character that it is at. 0 or -EBADMSG. */
static int take(struct reader *r, struct err *err)
{
	char c = r->text[r->at];

	if (c == '"') {
		const char *begin = r->text + r->at + 1;

		if (!pass_string(r))
			return cut(err);
		if (r->depth == 1 && !r->open) {
			r->key = begin;
			r->key_size = (size_t)(r->text + r->at - begin);
		}
	} else if (c == '{' || c == '[') {
		r->depth++;
	} else if (c == '}' || c == ']') {
		if (--r->depth == 0)
			close_member(r);
	} else if (c == ':' && r->depth == 1) {
		open_member(r);
	} else if (c == ',' && r->depth == 1) {
		close_member(r);
	} else if (c != ':' && c != ',' && !is_plain(c)) {
		return no_json(err);
	}
	if (r->open)
		r->open->values += c == '{' || c == '[' || c == ',';
	return 0;
}

int members_find(const char *text, size_t size, struct member *members, size_t count,
		 struct err *err)
{
	struct reader r = {.text = text, .size = size, .members = members, .count = count};

	while (r.at < size && is_space(text[r.at]))
		r.at++;
	if (r.at == size || (text[r.at] != '{' && text[r.at] != '['))
		return no_json(err);
	do {
		if (take(&r, err) < 0)
			return -EBADMSG;
		r.at++;
	} while (r.at < size && r.depth > 0);
	if (r.depth > 0)
		return cut(err);
	while (r.at < size && is_space(text[r.at]))
		r.at++;
	return r.at < size ? no_json(err) : 0;
}
