#include "profile/window/merged.h"

#include <stdlib.h>

const struct merged_note_words merged_note_words[MERGED_NOTES] = {
    [MERGED_NO_PROFILE] = {"no_profile", "failed, and have nothing to merge", true},
    [MERGED_OTHER_SAMPLER] = {"other_sampler", "had another sampler", true},
    [MERGED_OTHER_KINDS] = {"other_kinds", "were for other kinds", true},
    [MERGED_OTHER_NODES] = {"other_nodes", "ran on a machine with other NUMA nodes", true},
    [MERGED_NO_ACCOUNT] = {"no_account", "do not know what CPU time their samples are of", true},
    [MERGED_UNREADABLE] = {"unreadable", "cannot be read", true},
    [MERGED_OLDER] = {"older", "are older, and no more are merged at a time", true},
    [MERGED_FUTURE] = {"future", "began later than now, by a clock that was set since", true},
    [MERGED_OTHER_APP] = {"other_app", "are of another application", false},
    [MERGED_OTHER_JDK] = {"other_jdk", "ran on another JDK", false},
    [MERGED_OTHER_GC] = {"other_gc", "ran with another collector", false},
    [MERGED_OTHER_PERIOD] = {"other_period", "were asked for with another period", false},
    [MERGED_OTHER_OBJECT_SIZE] = {"other_object_size", "left out objects of another size", false},
    [MERGED_NO_OBJECTS] = {"no_objects", "could not track objects to their end", false},
    [MERGED_CUT_SHORT] = {"cut_short", "ended before their time", false},
    [MERGED_RUNNING] = {"running", "still run, and are as they were kept last", false},
    [MERGED_OTHER_AGENT] = {"other_agent", "ran with another version of the agent", false},
};

struct window_merged *window_merged_new(void)
{
	return calloc(1, sizeof(struct window_merged));
}

void window_merged_free(struct window_merged *m)
{
	if (!m)
		return;
	free(m->sites);
	free(m);
}
