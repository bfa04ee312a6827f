#include "daemon/schedule/sightings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/engine/app_name.h"
#include "daemon/schedule/planner.h"

/* A JVM without a name is waited for so long. */
#define SIGHTINGS_UNNAMED_NS (60 * NS_PER_S)

struct sighting {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t cpu_ns;
	uint64_t collector_ns; /* of these */
	uint64_t boot_ns;      /* when that was */
};

static int compare(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

void sightings_release(struct sightings *s)
{
	free(s->last);
	*s = (struct sightings){0};
}

static uint64_t age_ns(const Jxp__Jvm *jvm, uint64_t boot_ns)
{
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t start_ns;

	if (__builtin_mul_overflow(jvm->start_ticks, tick_ns, &start_ns) || start_ns > boot_ns)
		return 0;
	return boot_ns - start_ns;
}

static struct sighting *find(const struct sightings *s, pid_t pid)
{
	const struct sighting key = {.pid = pid};

	return s->count > 0 ? bsearch(&key, s->last, s->count, sizeof(key), compare) : NULL;
}

/* No more than its cgroups let it have, also when nothing else is known. */
static double most_cpu_share(const Jxp__Jvm *jvm)
{
	double share = jvm->cpu_limit / (double)sysconf(_SC_NPROCESSORS_ONLN);

	return share > 0 && share < 1 ? share : 1;
}

/* What it had used, and when: when it was seen last, else at its start. */
static double cpu_share(const struct sightings *s, const Jxp__Jvm *jvm, uint64_t boot_ns)
{
	const struct sighting *last = find(s, (pid_t)jvm->pid);
	bool seen = last && last->start_ticks == jvm->start_ticks;
	uint64_t used = seen ? last->cpu_ns : 0;
	uint64_t time_ns = seen ? boot_ns - last->boot_ns : age_ns(jvm, boot_ns);
	double share, most = most_cpu_share(jvm);

	if (time_ns == 0 || jvm->cpu_ns < used)
		return most;
	share = (double)(jvm->cpu_ns - used) /
		((double)time_ns * (double)sysconf(_SC_NPROCESSORS_ONLN));
	return share < most ? share : most;
}

/* A collector that uses less of one processor is no trouble, however little else the JVM does. */
#define COLLECTOR_LEAST 0.05

static double collector_share(const struct sightings *s, const Jxp__Jvm *jvm, uint64_t boot_ns)
{
	const struct sighting *last = find(s, (pid_t)jvm->pid);
	double cpu, collector;

	if (!last || last->start_ticks != jvm->start_ticks || jvm->cpu_ns <= last->cpu_ns ||
	    jvm->collector_ns < last->collector_ns)
		return 0;
	cpu = (double)(jvm->cpu_ns - last->cpu_ns);
	collector = (double)(jvm->collector_ns - last->collector_ns);
	return collector < COLLECTOR_LEAST * (double)(boot_ns - last->boot_ns) ? 0
									       : collector / cpu;
}

/* The part of "module/main.Class" that rules call the main class. */
static const char *main_class(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

struct jvm_facts sightings_facts(const Jxp__Jvm *jvm)
{
	return (struct jvm_facts){.user = jvm->user,
				  .main_class = main_class(jvm->name),
				  .command = jvm->command,
				  .cgroup = jvm->cgroup,
				  .container = jvm->container,
				  .pod = jvm->pod,
				  .environment = (const char *const *)jvm->environment,
				  .environment_count = jvm->n_environment,
				  .image = jvm->image,
				  .labels = (const char *const *)jvm->labels,
				  .label_count = jvm->n_labels};
}

/* One that has just begun says what it is soon; of one that never does, it is not known. */
static bool is_named(const Jxp__Jvm *jvm, uint64_t boot_ns)
{
	return jvm->name[0] || age_ns(jvm, boot_ns) >= SIGHTINGS_UNNAMED_NS;
}

static void tell(const struct sightings *s, const Jxp__Jvm *jvm, uint64_t boot_ns,
		 struct planner *planner)
{
	struct planner_jvm found = {
	    .pid = (pid_t)jvm->pid,
	    .start_ticks = jvm->start_ticks,
	    .uid = jvm->uid,
	    .age_ns = age_ns(jvm, boot_ns),
	    .cpu_share = cpu_share(s, jvm, boot_ns),
	    .collector_share = collector_share(s, jvm, boot_ns),
	    .refused = jvm->attachable              ? MISS_NONE
		       : jvm->agent_not_spoken_with ? MISS_PROTOCOL
						    : MISS_REFUSED,
	    .agent_version = jvm->agent_version,
	    .unnamed = !is_named(jvm, boot_ns),
	    .facts = sightings_facts(jvm),
	};
	char app[APP_NAME_BYTES];

	app_name_of(app, sizeof(app), jvm->name);
	found.facts.app = app;
	planner_found(planner, &found);
}

static struct sighting sighting_of(const Jxp__Jvm *jvm, uint64_t boot_ns)
{
	return (struct sighting){.pid = (pid_t)jvm->pid,
				 .start_ticks = jvm->start_ticks,
				 .cpu_ns = jvm->cpu_ns,
				 .collector_ns = jvm->collector_ns,
				 .boot_ns = boot_ns};
}

int sightings_tell(struct sightings *s, const Jxp__JvmList *list, uint64_t boot_ns,
		   struct planner *planner)
{
	size_t count = list->n_jvms < SIGHTINGS_MAX ? list->n_jvms : SIGHTINGS_MAX;
	struct sighting *seen = calloc(count + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	planner_begin_round(planner);
	for (size_t i = 0; i < count; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];

		tell(s, jvm, boot_ns, planner);
		seen[i] = sighting_of(jvm, boot_ns);
	}
	planner_end_round(planner);
	planner_left_out(planner, list->left_out + (list->n_jvms - count));
	qsort(seen, count, sizeof(*seen), compare);
	free(s->last);
	*s = (struct sightings){.last = seen, .count = count};
	return 0;
}

/* A place for pid, in their order; NULL without memory or beyond SIGHTINGS_MAX. */
static struct sighting *make_place(struct sightings *s, pid_t pid)
{
	struct sighting *grown;
	size_t at = 0;

	if (s->count >= SIGHTINGS_MAX)
		return NULL;
	grown = reallocarray(s->last, s->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	s->last = grown;
	while (at < s->count && grown[at].pid < pid)
		at++;
	memmove(&grown[at + 1], &grown[at], (s->count - at) * sizeof(*grown));
	s->count++;
	return &grown[at];
}

/* Nothing is left of a process that had the same pid. */
static int see(struct sightings *s, const Jxp__Jvm *jvm, uint64_t boot_ns, struct planner *planner)
{
	struct sighting *one = find(s, (pid_t)jvm->pid);

	if (one && one->start_ticks != jvm->start_ticks)
		planner_lost(planner, one->pid);
	tell(s, jvm, boot_ns, planner);
	if (!one)
		one = make_place(s, (pid_t)jvm->pid);
	if (!one)
		return -ENOMEM;
	*one = sighting_of(jvm, boot_ns);
	return 0;
}

static const Jxp__Jvm *find_listed(const Jxp__JvmList *list, pid_t pid)
{
	for (size_t i = 0; i < list->n_jvms; i++)
		if ((pid_t)list->jvms[i]->pid == pid)
			return list->jvms[i];
	return NULL;
}

int sightings_tell_some(struct sightings *s, const Jxp__JvmList *list, const pid_t *pids,
			size_t count, uint64_t boot_ns, struct planner *planner)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		const Jxp__Jvm *jvm = find_listed(list, pids[i]);

		if (!jvm)
			sightings_forget(s, pids[i], planner);
		else if (see(s, jvm, boot_ns, planner) < 0)
			r = -ENOMEM;
	}
	return r;
}

void sightings_forget(struct sightings *s, pid_t pid, struct planner *planner)
{
	struct sighting *one = find(s, pid);

	planner_lost(planner, pid);
	if (!one)
		return;
	s->count--;
	memmove(one, one + 1, (size_t)(s->last + s->count - one) * sizeof(*one));
}

bool sightings_know(const struct sightings *s, pid_t pid)
{
	return find(s, pid);
}
