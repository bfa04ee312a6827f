#include "daemon/export/formats.h"

#include <stddef.h>
#include <string.h>

#include "export/clickhouse/clickhouse.h"
#include "export/otlp/otlp.h"
#include "export/pyroscope/pyroscope.h"

/* One row each; NULL ends them. */
static const struct export_format *const formats[] = {
    &export_clickhouse,
    &export_otlp,
    &export_pyroscope,
    NULL,
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
