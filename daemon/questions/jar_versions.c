#include "daemon/questions/jar_versions.h"

#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "common/proc.h"
#include "daemon/questions/inspections.h"
#include "daemon/inspector/inspector.h"

struct jar_row {
	struct jar_versions *all;
	struct jar_versions_jvm jvm; /* pid 0: none */
	struct inspection *question; /* while it is asked */
	unsigned tries;              /* 0: nothing is left to be found */
	char version[JAR_VERSION_BYTES];
	jar_version_fn told; /* NULL: nobody is */
	void *arg;
};

struct jar_versions {
	struct inspections *inspections;
	uint64_t counts[JAR_RESULTS];
	size_t next; /* row to be used, oldest first */
	struct jar_row rows[JAR_VERSIONS_MAX];
};

static const char *const result_names[JAR_RESULTS] = {
    [JAR_UNTOLD] = "untold",         [JAR_FOUND] = "found",
    [JAR_NONE] = "no-jar",           [JAR_UNREADABLE] = "unreadable",
    [JAR_NOT_IN_USE] = "not-in-use", [JAR_NO_MANIFEST] = "no-manifest",
    [JAR_NO_VERSION] = "no-version",
};

const char *jar_versions_result_name(enum jar_result result)
{
	return result_names[result];
}

uint64_t jar_versions_count(const struct jar_versions *all, enum jar_result result)
{
	return all->counts[result];
}

struct jar_versions *jar_versions_new(struct inspections *inspections)
{
	struct jar_versions *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->inspections = inspections;
	for (size_t i = 0; i < JAR_VERSIONS_MAX; i++)
		all->rows[i].all = all;
	return all;
}

void jar_versions_free(struct jar_versions *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < JAR_VERSIONS_MAX; i++)
		inspection_forget(all->rows[i].question);
	free(all);
}

/* ---------------------------------------------------------------- answers */

/* An inspector reads what JVMs and files of their users say, so its answer is not taken for
 * granted: of another process, or one that is cut off, it is none. */
static enum jar_result take(struct jar_row *row, const Jxp__JvmList *list)
{
	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		size_t length = strlen(jvm->jar_version);

		if ((pid_t)jvm->pid != row->jvm.pid || jvm->start_ticks != row->jvm.start_ticks ||
		    jvm->jar_result >= JAR_RESULTS)
			continue;
		if (jvm->jar_result != JAR_FOUND)
			return jvm->jar_result;
		if (length == 0 || length >= sizeof(row->version))
			return JAR_NO_VERSION;
		strcpy(row->version, jvm->jar_version);
		for (char *c = row->version; *c; c++)
			*c = label_may_have(*c) ? *c : '_';
		return JAR_FOUND;
	}
	return JAR_UNTOLD;
}

/* Can a later question be answered otherwise? A JVM that has only begun has not opened its jar. */
static bool may_change(enum jar_result result)
{
	return result == JAR_UNTOLD || result == JAR_UNREADABLE || result == JAR_NOT_IN_USE;
}

static void tell(struct jar_row *row)
{
	jar_version_fn told = row->told;

	row->told = NULL;
	if (told && row->version[0])
		told(row->arg, row->version);
}

static void on_answer(void *arg, Jxp__ControlReply *answer)
{
	struct jar_row *row = arg;
	enum jar_result result = answer->body_case == JXP__CONTROL_REPLY__BODY_JVMS
				     ? take(row, answer->jvms)
				     : JAR_UNTOLD;

	row->question = NULL;
	row->all->counts[result]++;
	row->tries = may_change(result) ? row->tries - 1 : 0;
	tell(row);
}

/* ---------------------------------------------------------------- questions */

static bool is_of(const struct jar_row *row, const struct jar_versions_jvm *jvm)
{
	return row->jvm.pid == jvm->pid && row->jvm.start_ticks == jvm->start_ticks;
}

static struct jar_row *find(struct jar_versions *all, const struct jar_versions_jvm *jvm)
{
	for (size_t i = 0; i < JAR_VERSIONS_MAX; i++)
		if (is_of(&all->rows[i], jvm))
			return &all->rows[i];
	return NULL;
}

/* In place of the oldest one that is not being asked for; NULL: all are. */
static struct jar_row *add(struct jar_versions *all, const struct jar_versions_jvm *jvm)
{
	for (size_t i = 0; i < JAR_VERSIONS_MAX; i++) {
		struct jar_row *row = &all->rows[all->next];

		all->next = (all->next + 1) % JAR_VERSIONS_MAX;
		if (row->question)
			continue;
		*row = (struct jar_row){.all = all, .jvm = *jvm, .tries = JAR_VERSIONS_TRIES};
		return row;
	}
	return NULL;
}

static void ask(struct jar_row *row)
{
	const struct broker_request question = {.pid = INSPECTOR_LIST,
						.owner = PROC_ANY_UID,
						.pid_count = 1,
						.pids = {row->jvm.pid},
						.jars = 1};

	/* Without memory a later window asks. */
	(void)inspections_ask_for_jar(&row->question, row->all->inspections, row->jvm.user,
				      &question, on_answer, row);
}

void jar_versions_ask(struct jar_versions *all, const struct jar_versions_jvm *jvm,
		      jar_version_fn told, void *arg)
{
	struct jar_row *row = find(all, jvm);

	if (!row)
		row = add(all, jvm);
	if (!row) {
		all->counts[JAR_UNTOLD]++;
		return;
	}
	row->told = told;
	row->arg = arg;
	if (row->tries == 0)
		tell(row);
	else if (!row->question)
		ask(row);
}

void jar_versions_forget(struct jar_versions *all, const void *arg)
{
	for (size_t i = 0; all && i < JAR_VERSIONS_MAX; i++)
		if (all->rows[i].arg == arg)
			all->rows[i].told = NULL;
}
