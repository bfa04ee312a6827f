#include "profile/loops/loop_kind.h"

const char *loop_type_name(enum loop_type type)
{
	static const char *const names[LOOP_TYPES] = {
	    [LOOP_TYPE_UNKNOWN] = "", [LOOP_EVERY] = "1*", [LOOP_SOME] = "[0|1]*",
	    [LOOP_LAST] = "0*1?",     [LOOP_NEVER] = "0*",
	};

	return type < LOOP_TYPES ? names[type] : "";
}
