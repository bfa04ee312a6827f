/* "comparison" in the JSON report: what another window's is compared with (compare/side_json.h). */
#include "daemon/report/json_parts.h"

#include "compare/side_json.h"
#include "daemon/combine/window_side.h"

json_t *report_json_comparison(const struct report_model *m)
{
	_cleanup_(compare_side_release) struct compare_side side;

	if (window_side_init(&side, m->window) < 0)
		return NULL;
	return side.whole_ns > 0 ? compare_side_json(&side) : json_null();
}
