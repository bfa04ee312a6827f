/*
 * Sends windows to a ClickHouse server as a daemon's destination does, request by request, for the
 * tests of `jxperfctl fleet`: those of a store, or of a fleet whose truth is known.
 *
 *   windows store FILE URL HOST GROUP STORE            all windows of a store's database
 *   windows fleet URL APP SEED HOSTS WINDOWS [HOW [FIRST]]     a fleet of one application
 *
 * HOW: "once" is the default; "twice" sends every batch twice; "half" sends what comes before the
 * last request twice, as if the answer had been lost; "uncommitted" never sends rows of `windows`.
 *
 * In a fleet each host has its own part of wasteful bytes, from Beta(3, 7), so that of all hosts
 * that there might be it is 0.3. Where FIRST is said, one method of METHODS, write0, makes this
 * part of all accesses, and each of them in vain. Each host takes about WINDOWS windows, of epochs
 * that it takes part in with a probability of its own, which weights say. Prints what it has sent,
 * unweighted: windows, rows of pairs, observations, checked and wasteful bytes.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buffer.h"
#include "daemon/store/query.h"
#include "export/clickhouse/clickhouse.h"
#include "tests/unit/support/random_program.h"

#define BATCH    64u
#define BODY_MAX ((size_t)8 << 20)
#define TRIES    100
#define EPOCH_S  3600.0
#define GROUPS   10u
#define METHODS  12u
#define FEW      3u /* hosts that have a kind more, if so told */
#define START_NS (UINT64_C(1795248000) * NS_PER_S)

struct sender {
	CURL *curl;
	const char *url;
	void *memory;
	struct export_settings settings;
	bool twice, half, uncommitted, few;
	double first; /* part of accesses that the first method makes in vain; 0: none is special */
};

struct sent {
	uint64_t windows, pairs, observations, checked, wasteful;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "windows: %s\n", what);
	exit(EXIT_FAILURE);
}

static size_t keep(char *bytes, size_t one, size_t count, void *to)
{
	(void)buffer_append(to, bytes, one * count);
	return count;
}

static enum export_outcome post(struct sender *s, const struct export_request *q, struct err *err)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
	struct buffer answer;
	enum export_outcome outcome;
	char url[16384];
	uint64_t lost;
	long status = 0;

	buffer_init(&answer, 65536);
	(void)snprintf(url, sizeof(url), "%s%s", s->url, q->target);
	curl_easy_setopt(s->curl, CURLOPT_URL, url);
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, q->body);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_bytes);
	curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, &answer);
	if (curl_easy_perform(s->curl) != CURLE_OK)
		die("the server does not answer");
	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	outcome = export_clickhouse.judge((int)status, answer.data ? answer.data : (uint8_t *)"",
					  buffer_length(&answer), err, &lost);
	buffer_release(&answer);
	curl_slist_free_all(headers);
	return outcome;
}

static void send_request(struct sender *s, const struct export_request *q)
{
	struct err err = {""};

	for (int i = 0; i < TRIES; i++) {
		enum export_outcome outcome = post(s, q, &err);

		if (outcome == EXPORT_SENT)
			return;
		if (outcome != EXPORT_RETRY && outcome != EXPORT_FAILED)
			die(err.message[0] ? err.message : "the server takes no rows");
		usleep(200000);
	}
	die(err.message);
}

static void send_batch(struct sender *s, const struct export_origin *origin,
		       const struct window_result *const *windows, size_t count)
{
	struct export_batch batch = {0};
	struct err err = {""};

	if (export_clickhouse.encode(s->memory, &s->settings, origin, windows, count, START_NS,
				     &batch, &err) < 0)
		die(err.message);
	for (int again = s->twice || s->half; again >= 0; again--)
		for (size_t i = 0; i < batch.count; i++)
			if (!(i + 1 == batch.count && (s->uncommitted || (s->half && again))))
				send_request(s, &batch.requests[i]);
	export_clickhouse.acknowledged(s->memory, &batch);
	export_batch_release(&batch);
}

static void count_sent(struct sent *sent, const struct window_result *w)
{
	sent->windows++;
	sent->pairs += w->profile.pair_count;
	for (size_t i = 0; i < w->profile.pair_count; i++) {
		sent->observations += w->profile.pairs[i].count;
		sent->checked += w->profile.pairs[i].checked_bytes;
		sent->wasteful += w->profile.pairs[i].wasteful_bytes;
	}
}

static void send_and_free(struct sender *s, const struct export_origin *origin,
			  struct window_result **windows, size_t count, struct sent *sent)
{
	send_batch(s, origin, (const struct window_result *const *)windows, count);
	for (size_t i = 0; i < count; i++) {
		count_sent(sent, windows[i]);
		window_result_free(windows[i]);
	}
}

/* ---------------------------------------------------------------- a store */

static void send_store(struct sender *s, const char *path, const struct export_origin *origin,
		       struct sent *sent)
{
	struct window_result *windows[BATCH];
	struct database *db;
	unsigned number = 0;
	size_t count = 0;
	struct err err;

	if (database_open(path, DATABASE_READ, &db, &err) < 0)
		die(err.message);
	while (database_next(db, number, &number)) {
		if (database_load(db, PROC_ANY_UID, number, &windows[count], &err) < 0)
			continue;
		if (++count == BATCH) {
			send_and_free(s, origin, windows, count, sent);
			count = 0;
		}
	}
	if (count > 0)
		send_and_free(s, origin, windows, count, sent);
	database_close(db);
}

/* ---------------------------------------------------------------- a fleet */

struct host {
	double waste; /* of its bytes */
	double chance;
	double load; /* by how much its windows are busier than others' */
};

/* Each wasteful observation stands for a tick. */
static void give_time(struct window_result *w, double tick_ns)
{
	struct totals *t = &w->profile.kinds[JXP__KIND__KIND_DEAD_STORE].application;

	for (size_t i = 0; i < w->profile.pair_count; i++) {
		double n = (double)w->profile.pairs[i].wasteful_count;

		w->profile.pairs[i].cpu = (struct cpu_sums){n * tick_ns, n * tick_ns * tick_ns};
	}
	t->wasteful_cpu = (struct cpu_sums){(double)t->wasteful_count * tick_ns,
					    (double)t->wasteful_count * tick_ns * tick_ns};
	t->cpu =
	    (struct cpu_sums){(double)t->count * tick_ns, (double)t->count * tick_ns * tick_ns};
}

/* Half as many observations as ticks, in the same methods. */
static struct window_result *fleet_window(const struct host *h, uint64_t *state, const char *app,
					  unsigned number, unsigned observations, double first)
{
	struct random_program p = {.pairs = METHODS};
	struct window_result *w;

	for (unsigned i = 0; i < METHODS; i++) {
		p.part[i] = first > 0 ? (1 - first) / (METHODS - 1) : 1.0 / METHODS;
		p.waste[i] = h->waste;
	}
	if (first > 0) {
		p.part[0] = first;
		p.waste[0] = 1;
	}
	w = random_program_window(&p, state, number, observations, 7);
	(void)snprintf(w->app, sizeof(w->app), "%s", app);
	(void)snprintf(w->version, sizeof(w->version), "1.%u", number % 2);
	(void)snprintf(w->request.schedule.name, sizeof(w->request.schedule.name), "hourly");
	w->request.schedule.weight_s = EPOCH_S / h->chance;
	w->start_unix_ns = START_NS + number * 60 * NS_PER_S;
	w->end_unix_ns = w->start_unix_ns + 12 * NS_PER_S;
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	w->request.kinds[JXP__KIND__KIND_SILENT_STORE] = false;
	w->request.kinds[JXP__KIND__KIND_SILENT_LOAD] = false;
	w->cpu_ns = (uint64_t)(h->load * 10 * (double)NS_PER_S);
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 2 * observations;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = w->cpu_ns - w->overhead_ns;
	give_time(w, (double)(w->cpu_ns - w->overhead_ns) / (2.0 * observations));
	for (uint32_t n = 1; n <= w->profile.cct.node_count; n++)
		if (cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, n, false,
				    (w->cpu_ns - w->overhead_ns) / w->profile.cct.node_count) < 0)
			die("out of memory");
	return w;
}

/* As many of them as there are dead stores, and no pairs. */
static void add_silent_stores(struct window_result *w)
{
	struct kind_totals *kinds = w->profile.kinds;

	w->request.kinds[JXP__KIND__KIND_SILENT_STORE] = true;
	kinds[JXP__KIND__KIND_SILENT_STORE] = kinds[JXP__KIND__KIND_DEAD_STORE];
}

static void send_host(struct sender *s, const char *app, unsigned number, uint64_t *state,
		      unsigned wanted, struct sent *sent)
{
	static const double chances[] = {1, 0.5, 0.25};
	struct host h = {.waste = draw_beta(state, 3, 7),
			 .chance = chances[(unsigned)(3 * draw(state))],
			 .load = 0.5 + draw(state)};
	struct window_result *windows[BATCH];
	char name[64], store[192], group[32];
	struct export_origin origin = {.host = name, .group = group, .store = store};
	size_t count = 0;

	(void)snprintf(name, sizeof(name), "host%u", number);
	(void)snprintf(group, sizeof(group), "g%u", number % GROUPS);
	(void)snprintf(store, sizeof(store), "store-of-%u-%s", number, app);
	for (unsigned epoch = 0; epoch < (unsigned)(wanted / h.chance); epoch++) {
		if (draw(state) >= h.chance)
			continue;
		windows[count] = fleet_window(&h, state, app, epoch + 1, 40, s->first);
		if (s->few && number < FEW)
			add_silent_stores(windows[count]);
		if (++count == BATCH) {
			send_and_free(s, &origin, windows, count, sent);
			count = 0;
		}
	}
	if (count > 0)
		send_and_free(s, &origin, windows, count, sent);
}

static void send_fleet(struct sender *s, char **argv, struct sent *sent)
{
	uint64_t seed = strtoull(argv[1], NULL, 10),
		 state = seed * 2654435761u + 88172645463325252u;
	unsigned hosts = (unsigned)strtoul(argv[2], NULL, 10);
	unsigned windows = (unsigned)strtoul(argv[3], NULL, 10);
	const char *how = argv[4] ? argv[4] : "";

	s->first = argv[4] && argv[5] ? strtod(argv[5], NULL) : 0;
	s->twice = strcmp(how, "twice") == 0;
	s->half = strcmp(how, "half") == 0;
	s->uncommitted = strcmp(how, "uncommitted") == 0;
	s->few = strcmp(how, "few") == 0;
	for (unsigned i = 0; i < hosts; i++) {
		/* A new host's daemon remembers nothing. */
		export_clickhouse.free_memory(s->memory);
		s->memory = export_clickhouse.new_memory();
		send_host(s, argv[0], i, &state, windows, sent);
	}
}

int main(int argc, char **argv)
{
	struct sender s = {.curl = curl_easy_init(),
			   .memory = export_clickhouse.new_memory(),
			   .settings = {.database = "jxperf", .body_bytes_max = BODY_MAX}};
	struct sent sent = {0};

	if (!s.curl || !s.memory)
		die("out of memory");
	if (argc == 7 && strcmp(argv[1], "store") == 0) {
		const struct export_origin origin = {
		    .host = argv[4], .group = argv[5], .store = argv[6]};

		s.url = argv[3];
		send_store(&s, argv[2], &origin, &sent);
	} else if (argc >= 7 && strcmp(argv[1], "fleet") == 0) {
		s.url = argv[2];
		send_fleet(&s, argv + 3, &sent);
	} else {
		die("store FILE URL HOST GROUP STORE, or fleet URL APP SEED HOSTS WINDOWS [HOW "
		    "[FIRST]]");
	}
	(void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sent.windows,
		     sent.pairs, sent.observations, sent.checked, sent.wasteful);
	export_clickhouse.free_memory(s.memory);
	curl_easy_cleanup(s.curl);
	return EXIT_SUCCESS;
}
