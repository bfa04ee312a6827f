#include "daemon/schedule/miss.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	const char *name, *words;
	enum jvm_state state;
} misses[MISS_MAX] = {
    [MISS_NONE] = {"none", "", JVM_COVERED},
    [MISS_BUSY] = {"busy", "another daemon profiles it", JVM_REFUSED},
    [MISS_LIMIT] = {"limit", "", JVM_COVERED},
    [MISS_BUDGET] = {"budget", "", JVM_COVERED},
    [MISS_LATE] = {"late", "", JVM_COVERED},
    [MISS_REFUSED] = {"refused", "it cannot be attached to", JVM_REFUSED},
    [MISS_BROKER] = {"broker", "", JVM_HELD},
    [MISS_PROTOCOL] = {"protocol", "its agent speaks another protocol", JVM_REFUSED},
    [MISS_ROOM] = {"room", "no room for the agent", JVM_REFUSED},
    [MISS_PERMISSION] = {"permission", "no permission", JVM_REFUSED},
    [MISS_UNSUPPORTED] = {"unsupported", "not supported", JVM_REFUSED},
    [MISS_SAMPLER] = {"sampler", "no sampler", JVM_REFUSED},
    [MISS_FAILED] = {"failed", "a window failed", JVM_SKIPPED},
    [MISS_COST] = {"cost", "a window cost too much", JVM_SKIPPED},
    [MISS_COLLECTOR] = {"collector", "", JVM_HELD},
    [MISS_CPU_PRESSURE] = {"cpu_pressure", "", JVM_HELD},
    [MISS_MEMORY_PRESSURE] = {"memory_pressure", "", JVM_HELD},
    [MISS_IO_PRESSURE] = {"io_pressure", "", JVM_HELD},
    [MISS_LOAD] = {"load", "", JVM_HELD},
    [MISS_PAUSED] = {"paused", "", JVM_HELD},
};

/* What is not here was found out from a JVM that did not do its part. */
static const struct {
	int error;
	enum miss miss;
} refusals[] = {
    {EBUSY, MISS_BUSY},       {ENOMEM, MISS_ROOM},         {EACCES, MISS_PERMISSION},
    {EPERM, MISS_PERMISSION}, {ENOTSUP, MISS_UNSUPPORTED}, {EPROTONOSUPPORT, MISS_PROTOCOL},
    {ENOSPC, MISS_REFUSED},   {EROFS, MISS_REFUSED},       {EINPROGRESS, MISS_REFUSED},
    {EAGAIN, MISS_REFUSED},   {EDQUOT, MISS_REFUSED},
};

const char *miss_name(enum miss miss)
{
	return (unsigned)miss < MISS_MAX ? misses[miss].name : "unknown";
}

const char *miss_words(enum miss miss)
{
	return (unsigned)miss < MISS_MAX ? misses[miss].words : "";
}

enum jvm_state miss_state(enum miss miss)
{
	return (unsigned)miss < MISS_MAX ? misses[miss].state : JVM_COVERED;
}

const char *jvm_state_name(enum jvm_state state)
{
	static const char *const names[JVM_STATES] = {
	    [JVM_COVERED] = "covered", [JVM_UNMATCHED] = "unmatched", [JVM_SKIPPED] = "skipped",
	    [JVM_REFUSED] = "refused", [JVM_HELD] = "held",
	};

	return (unsigned)state < JVM_STATES ? names[state] : "unknown";
}

enum miss miss_of_error(int error)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].error == error)
			return refusals[i].miss;
	return MISS_NONE;
}
