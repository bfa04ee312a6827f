#include "client/output/kinds.h"

#include <stdio.h>

const char *kinds_text(char text[KIND_OPTIONS_BYTES], const Jxp__Kind *kinds, size_t count)
{
	size_t used = 0;

	(void)snprintf(text, KIND_OPTIONS_BYTES, "-");
	for (size_t i = 0; i < count && used < KIND_OPTIONS_BYTES; i++)
		used += (size_t)snprintf(text + used, KIND_OPTIONS_BYTES - used, "%s%s",
					 i > 0 ? "," : "", kind_option(kinds[i])); /* Fits. */
	return text;
}

json_t *kinds_json(const Jxp__Kind *kinds, size_t count)
{
	json_t *array = count > 0 ? json_array() : json_null();

	for (size_t i = 0; i < count; i++)
		json_push(&array, json_readable(kind_option(kinds[i])));
	return array;
}
