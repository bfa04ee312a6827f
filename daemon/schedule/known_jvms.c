#include "daemon/schedule/known_jvms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int known_jvms_init(struct known_jvms *jvms)
{
	*jvms = (struct known_jvms){.rows = calloc(KNOWN_JVMS_MAX, sizeof(*jvms->rows))};
	return jvms->rows ? 0 : -ENOMEM;
}

/* Its place is the caller's to fill. */
static void release_jvm(struct known_jvms *jvms, struct known_jvm *jvm)
{
	shares_give(&jvms->owners, jvm->first_uid, 1);
	free(jvm->plans);
}

void known_jvms_release(struct known_jvms *jvms)
{
	for (size_t i = 0; i < jvms->count; i++)
		release_jvm(jvms, &jvms->rows[i]);
	shares_release(&jvms->owners);
	free(jvms->rows);
}

struct known_jvm *known_jvms_find(const struct known_jvms *jvms, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < jvms->count; i++)
		if (jvms->rows[i].pid == pid && jvms->rows[i].start_ticks == start_ticks)
			return &jvms->rows[i];
	return NULL;
}

/* The last one that came, where an earlier one of its pid is not forgotten yet. */
struct known_jvm *known_jvms_of_pid(const struct known_jvms *jvms, pid_t pid)
{
	for (size_t i = jvms->count; i-- > 0;)
		if (jvms->rows[i].pid == pid)
			return &jvms->rows[i];
	return NULL;
}

/* Which one makes way for a newcomer that there is no room for, or NULL: one that no schedule
 * matches for one that some does, else one of the user who has most. */
static struct known_jvm *who_makes_way(struct known_jvms *jvms, uid_t uid, bool matches)
{
	struct known_jvm *most = NULL;

	for (size_t i = jvms->count; i-- > 0;) {
		struct known_jvm *jvm = &jvms->rows[i];

		if (matches && !jvm->matches)
			return jvm;
		if (jvm->matches == matches &&
		    shares_makes_way(&jvms->owners, jvm->first_uid, uid) &&
		    (!most || shares_of(&jvms->owners, jvm->first_uid) >
				  shares_of(&jvms->owners, most->first_uid)))
			most = jvm;
	}
	return most;
}

/* False when there is none. What some schedule matches and has no place is counted. */
static bool make_room(struct known_jvms *jvms, uid_t uid, bool matches)
{
	struct known_jvm *jvm;

	if (jvms->count < KNOWN_JVMS_MAX)
		return true;
	jvm = who_makes_way(jvms, uid, matches);
	jvms->over_limit += jvm ? jvm->matches : matches;
	if (!jvm)
		return false;
	release_jvm(jvms, jvm);
	*jvm = jvms->rows[--jvms->count];
	return true;
}

struct known_jvm *known_jvms_add(struct known_jvms *jvms, pid_t pid, uint64_t start_ticks,
				 uid_t uid, bool matches, size_t plans)
{
	struct known_jvm *jvm;

	if (!make_room(jvms, uid, matches) || shares_add(&jvms->owners, uid, 1) < 0)
		return NULL;
	jvm = &jvms->rows[jvms->count];
	*jvm = (struct known_jvm){.pid = pid, .start_ticks = start_ticks, .first_uid = uid};
	jvm->plans = calloc(plans + 1, sizeof(*jvm->plans));
	if (!jvm->plans) {
		release_jvm(jvms, jvm);
		return NULL;
	}
	(void)snprintf(jvm->identity, sizeof(jvm->identity), "%d:%llu", (int)pid,
		       (unsigned long long)start_ticks);
	jvms->count++;
	return jvm;
}

/* Those that were not found in this round, or have the pid. */
static void forget_some(struct known_jvms *jvms, bool not_found, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < jvms->count; i++) {
		if (not_found ? jvms->rows[i].found : jvms->rows[i].pid != pid)
			jvms->rows[kept++] = jvms->rows[i];
		else
			release_jvm(jvms, &jvms->rows[i]);
	}
	jvms->count = kept;
}

void known_jvms_forget_unfound(struct known_jvms *jvms)
{
	forget_some(jvms, true, 0);
}

void known_jvms_forget(struct known_jvms *jvms, pid_t pid)
{
	forget_some(jvms, false, pid);
}
