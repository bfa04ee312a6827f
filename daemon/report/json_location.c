/* What an access touched, in the JSON report: of pairs, of allocation sites and of classes alike.
 */
#include "daemon/report/json_parts.h"

#include <string.h>

#include "proto/words.h"

json_t *report_json_location(struct json_writer *writer, uint32_t location)
{
	const struct profile *p = &writer->model->window->profile;
	struct location l = locations_get(&p->locations, location);
	const char *names[] = {
	    strings_get(&p->strings, l.class_name), strings_get(&p->strings, l.field),
	    strings_get(&p->strings, l.declared_in), strings_get(&p->strings, l.type)};
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		bytes += strlen(names[i]);
	if (!report_json_take_names(writer, bytes))
		names[0] = names[1] = names[2] = names[3] = "";
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "class", names[0], "field", names[1],
			 "declared_in", names[2], "type", names[3], "kind",
			 name_of_location((Jxp__Location__Kind)l.kind));
}
