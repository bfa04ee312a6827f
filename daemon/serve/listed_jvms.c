#include "daemon/serve/listed_jvms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/app_name.h"
#include "daemon/engine/engine.h"
#include "daemon/schedule/scheduler.h"

/* What was not sent is protobuf-c's own empty string, which also frees nothing. */
static void set(char **text, const char *value)
{
	char *copy = value[0] ? strdup(value) : (char *)protobuf_c_empty_string;

	if (!copy)
		return; /* It still says what it did. */
	if (*text != protobuf_c_empty_string)
		free(*text);
	*text = copy;
}

static void take_out_texts(char ***texts, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		free((*texts)[i]);
	free(*texts);
	*texts = NULL;
	*count = 0;
}

/* For selectors, names and the budget only. */
static void take_out_traits(Jxp__Jvm *jvm)
{
	set(&jvm->command, "");
	set(&jvm->cgroup, "");
	set(&jvm->pod, "");
	set(&jvm->image, "");
	take_out_texts(&jvm->environment, &jvm->n_environment);
	take_out_texts(&jvm->labels, &jvm->n_labels);
	jvm->cpu_limit = 0;
	jvm->collector_ns = 0;
}

/* As a window of it would be called. */
static void add_app(Jxp__Jvm *jvm, const struct scheduler *scheduler)
{
	char app[WINDOW_NAME_BYTES];

	if (!scheduler || !scheduler_name(scheduler, jvm, app, NULL))
		app_name_of(app, sizeof(app), jvm->name);
	set(&jvm->app, app);
}

static void add_schedule(Jxp__Jvm *jvm, const struct scheduler *scheduler)
{
	struct planner_view view;

	/* The list may be newer: another JVM can have the pid by now. */
	if (!scheduler_view(scheduler, (pid_t)jvm->pid, &view) ||
	    view.start_ticks != jvm->start_ticks)
		return;
	set(&jvm->schedule, view.schedule);
	set(&jvm->last_window, view.last_window);
	jvm->next_window_unix_ns = view.next_unix_ns;
	set(&jvm->skipped, miss_words(view.why));
	set(&jvm->skipped_reason, view.why ? miss_name(view.why) : "");
	jvm->skipped_until_unix_ns = view.until_unix_ns;
	jvm->probability = view.probability;
}

void listed_jvms_complete(Jxp__JvmList *list, const struct engine *engine,
			  const struct scheduler *scheduler)
{
	list->schedules = scheduler && scheduler_has_schedules(scheduler);
	for (size_t i = 0; i < list->n_jvms; i++) {
		Jxp__Jvm *jvm = list->jvms[i];

		if (engine_is_profiled(engine, (pid_t)jvm->pid))
			set(&jvm->state, "profiled");
		add_app(jvm, scheduler);
		take_out_traits(jvm);
		if (list->schedules)
			add_schedule(jvm, scheduler);
	}
}
