#include "attach/agent/crowd/strangers.h"

#include <dirent.h>
#include <stdlib.h>

#include "common/clock.h"

/* To list all threads takes a microsecond each. */
#define LIST_INTERVAL_NS NS_PER_S

void strangers_release(struct strangers *s)
{
	free(s->threads);
	*s = (struct strangers){0};
}

static struct stranger *find(const struct strangers *s, pid_t tid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].tid == tid)
			return &s->threads[i];
	return NULL;
}

static void add(struct strangers *s, pid_t tid, bool begins)
{
	size_t capacity = s->capacity ? s->capacity * 2 : 64;
	struct stranger *grown;
	uint64_t cpu_ns;

	if (!clock_thread_ns(tid, &cpu_ns))
		return;
	if (s->count == s->capacity) {
		grown = realloc(s->threads, capacity * sizeof(*grown));
		if (!grown)
			return;
		s->threads = grown;
		s->capacity = capacity;
	}
	/* One that was not there a while ago has used all of it since. */
	s->threads[s->count++] =
	    (struct stranger){.tid = tid, .since_ns = begins ? 0 : cpu_ns, .cpu_ns = cpu_ns};
}

static void list(struct strangers *s, bool (*is_java)(void *arg, pid_t tid), void *arg)
{
	bool begins = s->listed_ns != 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !find(s, tid) && !is_java(arg, tid))
			add(s, tid, begins);
	}
	(void)closedir(dir); /* Read-only. */
	s->listed_ns = clock_monotonic_ns();
}

void strangers_look(struct strangers *s, bool (*is_java)(void *arg, pid_t tid), void *arg)
{
	for (size_t i = 0; i < s->count;) {
		struct stranger *t = &s->threads[i];
		bool java = is_java(arg, t->tid);

		if (!java && clock_thread_ns(t->tid, &t->cpu_ns)) {
			i++;
			continue;
		}
		if (!java)
			s->ended_ns += t->cpu_ns - t->since_ns;
		*t = s->threads[--s->count];
	}
	if (!s->listed_ns || clock_monotonic_ns() >= s->listed_ns + LIST_INTERVAL_NS)
		list(s, is_java, arg);
}

uint64_t strangers_ns(const struct strangers *s)
{
	uint64_t sum = s->ended_ns;

	/* Less than before: another thread has got its tid. */
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].cpu_ns > s->threads[i].since_ns)
			sum += s->threads[i].cpu_ns - s->threads[i].since_ns;
	return sum;
}
