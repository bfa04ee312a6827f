#include "attach/agent/slowdown/slowdown.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/code/search.h"
#include "attach/agent/slowdown/thread_io.h"
#include "common/clock.h"

/* The JVM adds up what was allocated when a thread's buffer is full, so less time says little. */
#define SPAN_MIN_NS (500 * NS_PER_MS)

/* Less than this is noise of the clock. */
#define SPLIT_LEAST_NS      0.5
#define STRING_LEAST_FACTOR 1.5

struct slowdown_costs slowdown_costs_of(double split_ns, double off_ns, double on_ns,
					double string_bytes)
{
	struct slowdown_costs costs = {0};

	if (split_ns >= SPLIT_LEAST_NS)
		costs.split_ns = split_ns;
	if (off_ns > 0 && on_ns >= off_ns * STRING_LEAST_FACTOR) {
		costs.string_lost = 1 - off_ns / on_ns;
		costs.byte_ns = (on_ns - off_ns) / string_bytes;
	}
	return costs;
}

double slowdown_by_splits(uint64_t bytes, uint64_t cpu_ns, double split_ns)
{
	double fraction;

	if (cpu_ns == 0)
		return 0;
	fraction = (double)bytes / (double)cpu_ns * split_ns / SLOWDOWN_SPLIT_BYTES;
	return fraction < SLOWDOWN_SPLIT_MOST ? fraction : SLOWDOWN_SPLIT_MOST;
}

double slowdown_by_strings(uint32_t string_ticks, uint32_t ticks, double string_lost)
{
	return (double)string_ticks / ((double)ticks + SLOWDOWN_TICKS_BEFORE) * string_lost;
}

double slowdown_by_copies(uint64_t bytes, uint64_t cpu_ns, double byte_ns)
{
	double longer_ns = (double)bytes * byte_ns;

	return longer_ns > 0 ? longer_ns / (longer_ns + (double)cpu_ns) : 0;
}

bool slowdown_is_string(const struct insn *in)
{
	return in->repeats && in->string_writes;
}

/* r15 is the JavaThread in compiled code. */
static bool allocated(const ucontext_t *uc, uint64_t offset, uint64_t *bytes)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	struct code_blob blob;

	return offset && codemap_find((uint64_t)regs[REG_RIP], &blob) &&
	       blob.type == CODE_COMPILED &&
	       safe_read((uint64_t)regs[REG_R15] + offset, bytes, sizeof(*bytes));
}

static void note_allocated(struct slowdown *s, uint64_t bytes, uint64_t cpu_ns, double split_ns)
{
	if (!s->begun) {
		s->begun = true;
		s->bytes = bytes;
		s->cpu_ns = cpu_ns;
		s->splits = slowdown_by_splits(bytes, cpu_ns, split_ns);
	} else if (bytes >= s->bytes && cpu_ns >= s->cpu_ns + SPAN_MIN_NS) {
		s->splits = slowdown_by_splits(bytes - s->bytes, cpu_ns - s->cpu_ns, split_ns);
	}
}

/* A string that is interrupted is begun again, so that is where the thread stands. */
static void note_string(struct slowdown *s, const ucontext_t *uc)
{
	struct insn in;

	s->ticks++;
	if (search_fetch((uint64_t)uc->uc_mcontext.gregs[REG_RIP], &in) && slowdown_is_string(&in))
		s->string_ticks++;
}

static void note_copies(struct slowdown *s, uint64_t cpu_ns, double byte_ns)
{
	uint64_t bytes;

	if (s->copied_cpu_ns && cpu_ns < s->copied_cpu_ns + SPAN_MIN_NS)
		return;
	if (thread_io_bytes(&bytes) && bytes >= s->copied && cpu_ns > s->copied_cpu_ns) {
		s->copies =
		    slowdown_by_copies(bytes - s->copied, cpu_ns - s->copied_cpu_ns, byte_ns);
		s->copied = bytes;
	}
	s->copied_cpu_ns = cpu_ns;
}

void slowdown_note(struct slowdown *s, const struct slowdown_tick *tick)
{
	const struct slowdown_costs *costs = tick->costs;
	uint64_t bytes;

	if (costs->split_ns > 0 && allocated(tick->uc, tick->allocated_offset, &bytes))
		note_allocated(s, bytes, tick->cpu_ns, costs->split_ns);
	if (costs->string_lost > 0)
		note_copies(s, tick->cpu_ns, costs->byte_ns);
	if (costs->string_lost > 0 && tick->on)
		note_string(s, tick->uc);
	s->fraction = s->splits + s->copies + tick->switches +
		      slowdown_by_strings(s->string_ticks, s->ticks, costs->string_lost);
	if (s->fraction > SLOWDOWN_MOST)
		s->fraction = SLOWDOWN_MOST;
}
