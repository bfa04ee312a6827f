#include "export/formats.h"

#include <stddef.h>
#include <string.h>

/* One row each; NULL ends them. */
static const struct export_format *const formats[] = {
    NULL,
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
