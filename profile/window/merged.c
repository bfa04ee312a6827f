#include "profile/window/merged.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

const struct merged_note_words merged_note_words[MERGED_NOTES] = {
    [MERGED_NO_PROFILE] = {"no_profile", "failed, and have nothing to merge", true},
    [MERGED_OTHER_SAMPLER] = {"other_sampler", "had another sampler", true},
    [MERGED_OTHER_KINDS] = {"other_kinds", "were for none of the kinds that were asked for", true},
    [MERGED_OTHER_NODES] = {"other_nodes", "ran on a machine with other NUMA nodes", true},
    [MERGED_NO_ACCOUNT] = {"no_account", "do not know what CPU time their samples are of", true},
    [MERGED_UNREADABLE] = {"unreadable", "cannot be read", true},
    [MERGED_OLDER] = {"older", "are older, and no more are merged at a time", true},
    [MERGED_FUTURE] = {"future", "began later than now, by a clock that was set since", true},
    [MERGED_OTHER_SCHEDULE] = {"other_schedule", "were not of the schedule", true},
    [MERGED_OTHER_APP] = {"other_app", "are of another application", false},
    [MERGED_OTHER_JDK] = {"other_jdk", "ran on another JDK", false},
    [MERGED_OTHER_GC] = {"other_gc", "ran with another collector", false},
    [MERGED_OTHER_PERIOD] = {"other_period", "were asked for with another period", false},
    [MERGED_OTHER_OBJECT_SIZE] = {"other_object_size", "left out objects of another size", false},
    [MERGED_NO_OBJECTS] = {"no_objects", "could not track objects to their end", false},
    [MERGED_CUT_SHORT] = {"cut_short", "ended before their time", false},
    [MERGED_RUNNING] = {"running", "still run, and are as they were kept last", false},
    [MERGED_OTHER_AGENT] = {"other_agent", "ran with another version of the agent", false},
    [MERGED_OTHER_VERSION] = {"other_version", "are of another version of the application", false},
};

bool window_merged_kinds_differ(const struct window_merged *m)
{
	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (m->kinds[kind].windows > 0 && m->kinds[kind].windows < m->windows)
			return true;
	return false;
}

void merged_note(struct window_merged *m, enum merged_note which, unsigned windows, unsigned first,
		 const char *detail)
{
	struct merged_difference *d = &m->notes[which];

	if (d->windows == 0) {
		d->first = first;
		(void)utf8_sanitize(d->detail, sizeof(d->detail), detail); /* May be cut. */
	}
	d->windows += windows;
}

void merged_names_add(struct merged_names *n, const char *name, unsigned windows)
{
	char fit[MERGED_DETAIL_BYTES];
	unsigned i = 0;

	(void)utf8_sanitize(fit, sizeof(fit), name); /* May be cut. */
	while (i < n->count && strcmp(n->names[i].name, fit) != 0)
		i++;
	if (i == MERGED_NAMES) {
		n->more += windows;
		return;
	}
	if (i == n->count)
		memcpy(n->names[n->count++].name, fit, sizeof(fit));
	n->names[i].windows += windows;
}

struct window_merged *window_merged_new(void)
{
	return calloc(1, sizeof(struct window_merged));
}

void window_merged_free(struct window_merged *m)
{
	if (!m)
		return;
	free(m->sites);
	free(m->contexts);
	free(m);
}
