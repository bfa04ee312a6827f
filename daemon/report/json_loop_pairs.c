/* Loops in the JSON report's pairs: "loop" of an access; and pairs in its loops: "pairs" of a loop.
 */
#include "daemon/report/json_parts.h"

#include <string.h>

int report_json_loop_of(struct json_writer *writer, uint32_t node, bool called, json_t *access)
{
	const struct report_model *m = writer->model;
	const struct profile *p = &m->window->profile;
	struct loop_around around = called ? loop_pairs_context(&m->loop_pairs, &p->cct, node)
					   : loop_pairs_frame(&m->loop_pairs, &p->cct, node);
	const struct cct_method *method;
	const char *class_name, *name;

	if (!around.loop)
		return 0;
	method = cct_method(&p->cct, around.loop->row->key.method);
	class_name = method ? strings_get(&p->strings, method->class_name) : "";
	name = method ? strings_get(&p->strings, method->name) : "";
	if (!report_json_take_names(writer, strlen(class_name) + strlen(name)))
		return 0;
	return json_object_set_new(
	    access, "loop",
	    json_pack("{s:I, s:s, s:s, s:i, s:[I, I], s:b}", "rank", (json_int_t)around.rank + 1,
		      "class", class_name, "method", name, "line", around.loop->row->key.line,
		      "bci", (json_int_t)around.loop->row->key.header,
		      (json_int_t)around.loop->row->latch_bci, "called", (int)around.called));
}

int report_json_loop_pairs(struct json_writer *writer, const struct report_loop *l, json_t *loop)
{
	const struct report_model *m = writer->model;
	_cleanup_json_ json_t *kinds = json_array();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct loop_waste *w =
		    loop_pairs_waste(&m->loop_pairs, (size_t)(l - m->loops.rows), i);

		if (w && json_array_append_new(
			     kinds,
			     json_pack("{s:s, s:f, s:[f, f], s:I, s:I}", "kind", pair_kinds[i].name,
				       "fraction", w->fraction, "fraction_ci95", w->ci95.low,
				       w->ci95.high, "count", (json_int_t)w->pairs,
				       "wasteful_count", (json_int_t)w->wasteful)) < 0)
			return -1;
	}
	if (json_array_size(kinds) == 0)
		return 0;
	return json_object_set(loop, "pairs", kinds);
}
