#include "daemon/http/metrics_kept.h"

#include <errno.h>

#include "common/log.h"
#include "daemon/http/metrics_record.h"

static int on_encode(void *arg, void **bytes, size_t *size)
{
	struct metrics_kept *k = arg;
	uint8_t *encoded = NULL;
	int r = metrics_encode(k->live, &encoded, size);

	if (r < 0)
		return r;
	metrics_copy(k->written, k->live);
	*bytes = encoded;
	return 0;
}

/* When writing works again, what was shown meanwhile may be more than what was written: it stands
 * until the next batch, which was encoded later, is on the disk. */
static void on_kept(void *arg, bool failing)
{
	struct metrics_kept *k = arg;

	if (!failing)
		metrics_copy(k->published, k->failing ? k->live : k->written);
	k->failing = failing;
}

static int take(struct metrics_kept *k, const void *bytes, size_t size, struct err *err)
{
	struct metrics *found = NULL;
	int r = metrics_decode(bytes, size, &found, err);

	if (r < 0)
		return r;
	metrics_add(k->live, found);
	metrics_free(found);
	return 0;
}

/* Late, since the database could not be opened at the start. */
static void on_found(void *arg, const void *bytes, size_t size)
{
	struct err err;

	if (take(arg, bytes, size, &err) < 0)
		log_error("metrics begin at 0: %s", err.message);
}

int metrics_kept_begin(struct metrics_kept *k, struct keeper *keeper, struct err *err)
{
	const struct keeper_metrics callbacks = {
	    .arg = k, .encode = on_encode, .found = on_found, .kept = on_kept};
	size_t size = 0;
	const void *bytes = keeper_metrics_found(keeper, &size);
	int r;

	k->written = metrics_new();
	k->published = metrics_new();
	if (!k->written || !k->published) {
		metrics_kept_release(k);
		return err_set(err, ENOMEM, "out of memory");
	}
	r = bytes ? take(k, bytes, size, err) : 0;
	metrics_copy(k->written, k->live);
	metrics_copy(k->published, k->live);
	keeper_add_metrics(keeper, &callbacks);
	return r;
}

void metrics_kept_release(struct metrics_kept *k)
{
	metrics_free(k->written);
	metrics_free(k->published);
	k->written = k->published = NULL;
}

const struct metrics *metrics_kept_shown(const struct metrics_kept *k)
{
	return k->published && !k->failing ? k->published : k->live;
}
