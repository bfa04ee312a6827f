#include "client/output/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

json_t *json_readable(const char *text)
{
	json_t *value = json_string(text);
	_cleanup_free_ char *plain = NULL;

	if (value)
		return value;
	plain = strdup(text);
	if (!plain)
		return NULL;
	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(plain);
}

int json_print(json_t *value, struct err *err)
{
	_cleanup_free_ char *text = value ? json_dumps(value, JSON_INDENT(2)) : NULL;

	json_decref(value);
	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	(void)puts(text); /* What went wrong with stdout is found by main's fflush. */
	return 0;
}
