#include "attach/agent/handler/slowdown.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "common/clock.h"

/* The JVM adds up what was allocated when a thread's buffer is full, so less time says little. */
#define SPAN_MIN_NS (500 * NS_PER_MS)

double slowdown_of(uint64_t bytes, uint64_t cpu_ns, double split_ns)
{
	double fraction;

	if (cpu_ns == 0)
		return 0;
	fraction = (double)bytes / (double)cpu_ns * split_ns / SLOWDOWN_SPLIT_BYTES;
	return fraction < SLOWDOWN_MOST ? fraction : SLOWDOWN_MOST;
}

/* r15 is the JavaThread in compiled code. */
static bool allocated(const ucontext_t *uc, uint64_t *bytes)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	struct code_blob blob;

	return handlers.layout.allocated_bytes && codemap_find((uint64_t)regs[REG_RIP], &blob) &&
	       blob.type == CODE_COMPILED &&
	       safe_read((uint64_t)regs[REG_R15] + handlers.layout.allocated_bytes, bytes,
			 sizeof(*bytes));
}

void slowdown_note(struct slowdown *s, uint64_t cpu_ns, const ucontext_t *uc)
{
	uint64_t bytes;

	if (!(handlers.split_ns > 0) || !allocated(uc, &bytes))
		return;
	if (!s->begun) {
		*s = (struct slowdown){.begun = true,
				       .bytes = bytes,
				       .cpu_ns = cpu_ns,
				       .fraction = slowdown_of(bytes, cpu_ns, handlers.split_ns)};
	} else if (bytes >= s->bytes && cpu_ns >= s->cpu_ns + SPAN_MIN_NS) {
		s->fraction = slowdown_of(bytes - s->bytes, cpu_ns - s->cpu_ns, handlers.split_ns);
	}
}
