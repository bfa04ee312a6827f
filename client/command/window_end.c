#include "client/command/window_end.h"

#include <stdio.h>

#include "client/command/command.h"

int window_end_tell(const Jxp__Document *document, bool interrupted)
{
	bool target = document->end == JXP__DOCUMENT__END__TARGET_ENDED;

	if (document->end == JXP__DOCUMENT__END__AS_PLANNED)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "jxperfctl: window %s ended %s: %s\n", document->window,
		      target ? "with its target" : "early",
		      interrupted && !target ? "interrupted" : document->reason);
	return target ? EXIT_TARGET_ENDED : EXIT_EARLY;
}
