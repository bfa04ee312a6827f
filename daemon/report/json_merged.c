/* What the JSON report says of a window that was merged from others. */
#include "daemon/report/json_parts.h"

/* "" for none. */
static json_t *id_json(unsigned number)
{
	return number ? json_sprintf("w%u", number) : json_string("");
}

static json_t *notes_json(const struct window_merged *m)
{
	_cleanup_json_ json_t *notes = json_array();

	for (int i = 0; i < MERGED_NOTES; i++) {
		const struct merged_difference *d = &m->notes[i];

		if (d->windows > 0 &&
		    json_array_append_new(notes, json_pack("{s:s, s:I, s:o, s:s, s:b}", "note",
							   merged_note_words[i].name, "windows",
							   (json_int_t)d->windows, "first",
							   id_json(d->first), "detail", d->detail,
							   "skipped",
							   (int)merged_note_words[i].skipped)) < 0)
			return NULL;
	}
	return TAKE_PTR(notes);
}

json_t *report_json_merged(const struct window_merged *m)
{
	_cleanup_json_ json_t *notes = notes_json(m);

	if (!notes)
		return NULL;
	return json_pack("{s:I, s:I, s:o, s:o, s:I, s:b, s:I, s:O}", "windows",
			 (json_int_t)m->windows, "skipped", (json_int_t)m->skipped, "first",
			 id_json(m->first), "last", id_json(m->last), "processes",
			 (json_int_t)m->processes, "more_processes", (int)m->more_processes,
			 "batches", (json_int_t)m->batches, "notes", notes);
}
