#include "attach/agent/slowdown/switching.h"

uint64_t switching_note(struct switching *s, uint64_t switches, uint64_t cpu_ns, uint64_t kernel_ns)
{
	struct switching before = *s;
	double passed, recent;

	/* The kernel's own corrections may take something back. */
	if (switches < before.switches || cpu_ns <= before.cpu_ns)
		return 0;
	passed = (double)(cpu_ns - before.cpu_ns);
	recent = before.cpu_ns == 0 ? 1 : passed / (passed + (double)SWITCHING_MEMORY_NS);
	s->per_ns += recent * ((double)(switches - before.switches) / passed - s->per_ns);
	if (kernel_ns >= before.kernel_ns)
		s->kernel += recent * ((double)(kernel_ns - before.kernel_ns) / passed - s->kernel);
	s->switches = switches;
	s->cpu_ns = cpu_ns;
	s->kernel_ns = kernel_ns;
	return before.cpu_ns == 0 ? 0 : switches - before.switches;
}
