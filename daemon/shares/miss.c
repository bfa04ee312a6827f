#include "daemon/shares/miss.h"

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

static const struct attach_error errors[] = {
    {.error = ESRCH, .reason = ATTACH_NO_SUCH_PROCESS, .absent = true, .no_window = true},
    {.error = ENOEXEC, .absent = true, .no_window = true},
    {.error = EPROTONOSUPPORT,
     .reason = ATTACH_PROTOCOL,
     .refusal = MISS_PROTOCOL,
     .no_window = true},
    {.error = EACCES, .reason = ATTACH_PERMISSION, .refusal = MISS_PERMISSION, .agents = true},
    {.error = EPERM, .reason = ATTACH_PERMISSION, .refusal = MISS_PERMISSION, .agents = true},
    {.error = ENOMEM, .reason = ATTACH_MEMORY, .refusal = MISS_ROOM, .agents = true},
    {.error = ENOTSUP, .reason = ATTACH_UNSUPPORTED, .refusal = MISS_UNSUPPORTED, .agents = true},
    {.error = EBUSY, .reason = ATTACH_BUSY, .refusal = MISS_BUSY},
    {.error = ENOSPC, .refusal = MISS_REFUSED},
    {.error = EROFS, .refusal = MISS_REFUSED},
    {.error = EINPROGRESS, .refusal = MISS_REFUSED},
    {.error = EAGAIN, .refusal = MISS_REFUSED},
    {.error = EDQUOT, .refusal = MISS_REFUSED},
    {.error = ETIMEDOUT, .reason = ATTACH_TIMEOUT},
    {.error = ECANCELED, .reason = ATTACH_CANCELLED},
    {.error = EPIPE, .reason = ATTACH_BROKER},
    {.error = ECONNABORTED, .reason = ATTACH_AGENT},
};

const struct attach_error *attach_error(int error)
{
	static const struct attach_error other;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return &errors[i];
	return &other;
}

const char *attach_reason_name(enum attach_reason reason)
{
	static const char *const names[ATTACH_REASONS] = {
	    [ATTACH_OTHER] = "other",           [ATTACH_NO_SUCH_PROCESS] = "no_such_process",
	    [ATTACH_PERMISSION] = "permission", [ATTACH_BUSY] = "busy",
	    [ATTACH_TIMEOUT] = "timeout",       [ATTACH_CANCELLED] = "cancelled",
	    [ATTACH_MEMORY] = "memory",         [ATTACH_UNSUPPORTED] = "unsupported",
	    [ATTACH_BROKER] = "broker",         [ATTACH_AGENT] = "agent",
	    [ATTACH_PROTOCOL] = "protocol"};

	return names[reason];
}
