#include "daemon/inspector/startup.h"

#include <stddef.h>

void startup_arguments(const struct startup *s, char **argv)
{
	const struct {
		const char *option, *value;
	} all[STARTUP_ARGUMENTS / 2] = {
	    {STARTUP_OPTION_BUNDLE, s->agent.bundle_dir},
	    {STARTUP_OPTION_AGENT_PATH, s->agent.image_path},
	    {STARTUP_OPTION_ENVIRONMENT, s->environment},
	    {STARTUP_OPTION_POD_LABELS, s->pod_labels},
	};

	for (unsigned i = 0; i < STARTUP_ARGUMENTS / 2; i++)
		if (all[i].value[0]) {
			*argv++ = (char *)all[i].option;
			*argv++ = (char *)all[i].value;
		}
	*argv = NULL;
}
