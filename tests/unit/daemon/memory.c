/* What the engine may take at most fits in what the unit lets it have. docs/security.md, "Memory of
 * the daemon", has the same sum. */
#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/history.h"
#include "daemon/answer/render.h"
#include "daemon/serve/connection.h"
#include "daemon/serve/control.h"
#include "daemon/store/keeper.h"
#include "fleet/config/config.h"
#include "tests/unit/support/config_text.h"
#include "proto/limits.h"

#define UNIT "systemd/jxperfd.service.in"
#define POD  "contrib/kubernetes/base/daemonset.yaml"

/* Code and stacks, SQLite, connections, the JVMs that are known. */
#define REST_BYTES ((size_t)64 << 20)

/* Of each context with CPU time in a merge (profile/combine/merge.h). */
#define MERGED_CONTEXT_BYTES ((size_t)128)

/* What a file permits: in the last line that the format fits. */
static size_t permitted(const char *path, const char *format)
{
	FILE *file = fopen(path, "re");
	size_t found = 0, value = 0;
	char line[256], unit;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, format, &value, &unit) == 2) {
			assert_true(unit == 'M' || unit == 'G');
			found = value << (unit == 'M' ? 20 : 30);
		}
	assert_int_equal(fclose(file), 0);
	return found;
}

/* A batch that goes to one destination, the window that it was one too many with, and the requests
 * that are made of them. */
static size_t sent(void)
{
	static const char text[] = "export: [{name: house, clickhouse: 'http://h'}]";
	struct config c;
	struct err err;
	size_t bytes;
	int r = config_parse(&c, "j.yaml", text, sizeof(text) - 1, &err);

	assert_int_equal(r, 0);
	if (r < 0) /* The analyzer does not know what an assertion is. */
		return 0;
	bytes = 2 * (c.exports[0].batch_bytes + WINDOW_BYTES_MAX);
	config_release(&c);
	return bytes;
}

TEST(all_that_is_bounded_fits_in_what_the_unit_permits)
{
	size_t kept = HISTORY_BYTES_MAX;
	size_t written = 2 * KEEPER_WAITING_BYTES + KEEPER_COPIES_BYTES;
	/* A window or a copy or merge of it, the report's text, and that again as it travels. */
	size_t shown = RENDERS_MAX * (WINDOW_BYTES_MAX + LIMIT_CPU_CONTEXTS * MERGED_CONTEXT_BYTES +
				      2 * (size_t)FRAME_MAX_REPLY) +
		       RENDERS_UNREAD_MAX_BYTES +
		       CONTROL_CONNECTIONS_MAX * (size_t)CONNECTION_SMALL_REPLY_BYTES;
	size_t sum =
	    engine_limits_usual.running_bytes + kept + written + shown + sent() + REST_BYTES;

	assert_in_range(sum, 0, permitted(UNIT, "MemoryMax=%zu%c"));
	assert_in_range(sum, 0, permitted(POD, " limits: { cpu: 500m, memory: %zu%ci"));
}
