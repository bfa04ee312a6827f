#include "fleet/selector.h"

#include <fnmatch.h>
#include <string.h>

/* No pattern asks for nothing. */
static bool agrees(const char *pattern, const char *text)
{
	return !pattern || (text && text[0] && fnmatch(pattern, text, 0) == 0);
}

/* condition: "NAME=PATTERN". */
static bool environment_agrees(const char *condition, const struct jvm_facts *jvm)
{
	size_t name = strcspn(condition, "=") + 1;

	for (size_t i = 0; i < jvm->environment_count; i++)
		if (strncmp(jvm->environment[i], condition, name) == 0)
			return fnmatch(condition + name, jvm->environment[i] + name, 0) == 0;
	return false;
}

bool selector_matches(const struct config_match *m, const struct jvm_facts *jvm)
{
	for (unsigned i = 0; i < m->environment_count; i++)
		if (!environment_agrees(m->environment[i], jvm))
			return false;
	return agrees(m->app, jvm->app) && agrees(m->user, jvm->user) &&
	       agrees(m->main_class, jvm->main_class) && agrees(m->command, jvm->command) &&
	       agrees(m->cgroup, jvm->cgroup) && agrees(m->container, jvm->container) &&
	       agrees(m->pod, jvm->pod);
}
