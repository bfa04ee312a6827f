#include "daemon/inspector/jvm_list.h"

#include "attach/bundle.h"
#include "attach/process/cgroup_cpu.h"
#include "attach/process/jvm.h"
#include "attach/process/jvm_step.h"
#include "common/cleanup.h"
#include "common/proc.h"
#include "common/utf8.h"
#include "daemon/child/look.h"
#include "daemon/inspector/jar_version.h"
#include "daemon/inspector/jvm_traits.h"
#include "daemon/shares/shares.h"
#include "daemon/watcher/threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_MS 2000 /* for one process: a thousand times what it takes */

struct collector {
	Jxp__JvmList *list;
	uid_t owner; /* of those that are looked at, or PROC_ANY_UID */
	bool jars;   /* are looked at, too */
	const struct startup *startup;
	struct agent_identity own; /* of the agent that this daemon loads */
	struct shares owners;      /* how many in the list are whose */
	bool out_of_memory;
};

static void cleanup_list(Jxp__JvmList **list)
{
	jxp__jvm_list__free_unpacked(*list, NULL);
}

/* By the names of its threads, which a JVM chooses: only its own windows depend on it. */
static uint64_t collector_ns(pid_t pid)
{
	static struct watcher_threads threads; /* Large, as the others. */
	uint64_t cpu_ns[WATCHER_GROUPS] = {0};

	if (watcher_threads_init(&threads, pid) < 0)
		return 0;
	watcher_threads_scan(&threads);
	watcher_threads_cpu(&threads, cpu_ns);
	watcher_threads_release(&threads);
	return cpu_ns[WATCHER_GC];
}

/* In a child. */
static size_t look(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES])
{
	static struct jvm_info info; /* Large; a child has one thread. */
	static struct jvm_traits traits;
	const struct collector *c = arg;
	Jxp__Jvm jvm = JXP__JVM__INIT;
	char version[JAR_VERSION_BYTES] = "";

	if (jvm_inspect_steps(pid, c->owner, step, &info, NULL) < 0 || !jvm_is_listed(&info))
		return 0;
	jvm.pid = (uint32_t)info.pid;
	jvm.uid = info.euid;
	jvm.user = info.user;
	jvm.container = info.container;
	jvm.name = info.name;
	jvm.jdk = info.jdk;
	jvm.gc = info.gc;
	jvm.by_name = info.vouched;
	/* A name that anybody could have chosen does not stand for it. */
	jvm.state = info.obstacle == JVM_ATTACHABLE && !info.vouched
			? (char *)"attachable by pid"
			: (char *)jvm_obstacle_name(info.obstacle);
	jvm.start_ticks = info.start_ticks;
	jvm.attachable = info.obstacle == JVM_ATTACHABLE;
	jvm.agent_version = info.agent_version;
	jvm.agent_not_spoken_with = info.obstacle == JVM_AGENT_NOT_SPOKEN_WITH;
	jvm.agent_is_own = agent_identity_equal(&info.agent, &c->own);
	jvm_traits_read(&traits, &info, c->startup, step);
	if (c->jars)
		jvm.jar_result = jar_version_read(&info, step, version);
	/* What was read since would else be said of another program, or user. */
	if (!jvm_is_unchanged(&info))
		return 0;
	jvm.jar_version = version;
	jvm.cpu_ns = traits.cpu_ns;
	jvm.cpu_limit = cgroup_cpu_limit("", pid);
	jvm.collector_ns = collector_ns(pid);
	jvm.command = traits.command;
	jvm.cgroup = traits.cgroup;
	jvm.pod = traits.pod;
	jvm.environment = traits.environment;
	jvm.n_environment = traits.environment_count;
	jvm.labels = traits.labels;
	jvm.n_labels = traits.label_count;
	jvm.image = traits.container.image;
	jvm.pod_name = traits.container.pod;
	jvm.pod_namespace = traits.container.namespace;
	_Static_assert(sizeof(info) + sizeof(traits) + sizeof(version) < LOOK_ANSWER_BYTES,
		       "every answer fits");
	return jxp__jvm__pack(&jvm, answer);
}

/* Whose place in a full list a newcomer takes: the last one's of the user who has most; or NULL. */
static Jxp__Jvm **who_makes_way(const struct collector *c, uid_t user)
{
	Jxp__Jvm **most = NULL;

	for (size_t i = c->list->n_jvms; i-- > 0;) {
		Jxp__Jvm **jvm = &c->list->jvms[i];

		if (shares_makes_way(&c->owners, (*jvm)->uid, user) &&
		    (!most ||
		     shares_of(&c->owners, (*jvm)->uid) > shares_of(&c->owners, (*most)->uid)))
			most = jvm;
	}
	return most;
}

/* In place of another one, or in the list's end. False: there is no room. */
static bool put(struct collector *c, Jxp__Jvm *jvm)
{
	Jxp__Jvm **place = &c->list->jvms[c->list->n_jvms];

	if (c->list->n_jvms < JVM_LIST_MAX) {
		c->list->n_jvms++;
	} else {
		c->list->left_out++;
		place = who_makes_way(c, jvm->uid);
		if (!place)
			return false;
		shares_give(&c->owners, (*place)->uid, 1);
		jxp__jvm__free_unpacked(*place, NULL);
	}
	*place = jvm;
	return true;
}

static void add(struct collector *c, Jxp__Jvm *jvm)
{
	if (!jvm)
		c->out_of_memory = true;
	else if (!put(c, jvm))
		jxp__jvm__free_unpacked(jvm, NULL);
	else if (shares_add(&c->owners, jvm->uid, 1) < 0)
		c->out_of_memory = true;
}

static void answered(void *arg, pid_t pid, const uint8_t *answer, size_t size)
{
	(void)pid;
	if (size > 0)
		add(arg, jxp__jvm__unpack(NULL, size, answer));
}

static Jxp__Jvm *describe_hanging(pid_t pid, const char *step)
{
	char state[JVM_STEP_BYTES + sizeof("hangs: ")];
	struct jvm_info info;
	Jxp__Jvm *jvm;

	if (jvm_outline(pid, &info) < 0)
		info = (struct jvm_info){0};
	jvm = malloc(sizeof(*jvm));
	if (!jvm)
		return NULL;
	jxp__jvm__init(jvm);
	strcpy(state, "hangs: ");
	(void)utf8_sanitize(state + strlen(state), JVM_STEP_BYTES, step);
	jvm->pid = (uint32_t)pid;
	jvm->uid = info.euid;
	(void)proc_start_time(pid, &jvm->start_ticks); /* 0 of one that has ended. */
	jvm->user = strdup(info.user);
	jvm->name = strdup(info.name);
	jvm->state = strdup(state);
	if (jvm->user && jvm->name && jvm->state)
		return jvm;
	jxp__jvm__free_unpacked(jvm, NULL);
	return NULL;
}

static void hangs(void *arg, pid_t pid, const char *step)
{
	add(arg, describe_hanging(pid, step));
}

static int compare_pids(const void *a, const void *b)
{
	const Jxp__Jvm *x = *(Jxp__Jvm *const *)a, *y = *(Jxp__Jvm *const *)b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Those of other users go first, so that neither their number nor what becomes of a look at them is
 * told. Returns how many are left. */
static size_t keep_owners(pid_t *pids, size_t count, uid_t owner)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (proc_check_owner(pids[i], owner, NULL) == 0)
			pids[kept++] = pids[i];
	return kept;
}

/* Those that "1,2" names, in its order: what is no pid ends it. 0 or -errno, with
 * *out to be freed. */
static int read_pids(const char *text, pid_t **out, size_t *count)
{
	pid_t *pids = calloc(strlen(text) / 2 + 1, sizeof(*pids)); /* Each takes two characters. */
	size_t n = 0;
	char *end;

	if (!pids)
		return -ENOMEM;
	for (long pid; (pid = strtol(text, &end, 10)) > 0 && pid <= INT_MAX; text = end + 1) {
		pids[n++] = (pid_t)pid;
		if (*end != JVM_LIST_SEPARATOR)
			break;
	}
	*out = pids;
	*count = n;
	return 0;
}

static int look_at_processes(struct collector *c, uid_t owner, const char *only, struct err *err)
{
	const struct look_task task = {.look = look,
				       .answered = answered,
				       .hangs = hangs,
				       .arg = c,
				       .deadline_ms = DEADLINE_MS};
	_cleanup_free_ pid_t *pids = NULL;
	size_t count, passed_over;
	int r = only[0] ? read_pids(only, &pids, &count) : proc_pids(&pids, &count);

	if (r < 0)
		return err_set_errno(err, -r, "cannot list processes");
	if (owner != PROC_ANY_UID)
		count = keep_owners(pids, count, owner);
	r = look_at_all(&task, pids, count, &passed_over, err);
	if (r == 0)
		c->list->not_looked_at = (uint32_t)passed_over;
	return r;
}

int jvm_list_new(Jxp__JvmList **out, uid_t owner, const char *only, bool jars,
		 const struct startup *startup, struct err *err)
{
	_cleanup_(cleanup_list) Jxp__JvmList *list = malloc(sizeof(*list));
	struct collector c = {.list = list, .owner = owner, .jars = jars, .startup = startup};
	int r;

	if (!list)
		return err_set(err, ENOMEM, "out of memory");
	bundle_identify(startup->agent.bundle_dir, &c.own);
	jxp__jvm_list__init(list);
	list->jvms = calloc(JVM_LIST_MAX, sizeof(Jxp__Jvm *));
	if (!list->jvms)
		return err_set(err, ENOMEM, "out of memory");
	r = look_at_processes(&c, owner, only, err);
	shares_release(&c.owners);
	if (r < 0)
		return r;
	if (c.out_of_memory)
		return err_set(err, ENOMEM, "out of memory");
	qsort(list->jvms, list->n_jvms, sizeof(Jxp__Jvm *), compare_pids);
	*out = TAKE_PTR(list);
	return 0;
}
