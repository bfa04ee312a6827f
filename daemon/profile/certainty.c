#include "daemon/profile/certainty.h"

const char *certainty_name(enum certainty certainty)
{
	static const char *const names[CERTAINTY_VALUES] = {
	    "none", "exact", "checked", "inferred", "method", "unknown",
	};

	return names[certainty];
}
