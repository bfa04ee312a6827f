/*
 * Holds the interpreter of the agent (attach/agent/path/machine.h) against the processor: threads
 * of a JVM that run compiled code are single-stepped, and at every step the interpreter is asked
 * what the next instructions will do. Whatever it says it knows must come true: path, registers,
 * flags.
 *
 *   single_step PID SEQUENCES SECONDS
 *
 * Prints "sequences N instructions N differences N" and, of the first differences, what differed.
 * All other threads stand still while one is stepped, so that memory changes by nobody else. Exit
 * status 77 when the process cannot be traced.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/code/insn.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/path/machine.h"

#define THREADS_MAX 256
#define AHEAD       24u   /* instructions that each sequence has at most */
#define STEPS       6000u /* of one thread in a row */
#define OUTSIDE_MAX 400u  /* of them outside of compiled code in a row */
#define RANGES_MAX  16
#define SHOWN_MAX   20u
#define TRAP_FLAG   0x100ull

static pid_t target;

/* The interpreter reads the target's memory through this. */
bool safe_read(uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

	return process_vm_readv(target, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

size_t safe_read_some(uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = process_vm_readv(target, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* Of the agent's tables, which are not there. */
bool codemap_covers(uint64_t address)
{
	(void)address;
	return false;
}

bool region_is_heap(const struct region_map *map, uint64_t address)
{
	(void)map, (void)address;
	return false;
}

/* ---------------------------------------------------------------- the code cache */

static struct {
	uint64_t low, high;
} ranges[RANGES_MAX];
static unsigned range_count;

/* The JVM makes more of it as it compiles: a program that has just begun has most of it to come. */
static void find_code(void)
{
	char path[64], line[512];
	FILE *f;

	range_count = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", target);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t low, high;
		char rights[5], name[256] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %255s", &low, &high,
			   rights, name) >= 3 &&
		    strcmp(rights, "rwxp") == 0 && name[0] == '\0' && range_count < RANGES_MAX) {
			ranges[range_count].low = low;
			ranges[range_count++].high = high;
		}
	}
	if (f)
		(void)fclose(f);
}

static bool is_code(uint64_t ip)
{
	for (unsigned i = 0; i < range_count; i++)
		if (ip >= ranges[i].low && ip < ranges[i].high)
			return true;
	return false;
}

/* ---------------------------------------------------------------- predictions */

static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
				      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

struct state {
	uint64_t ip;
	uint64_t regs[16];
	uint32_t flags;
};

struct snapshot {
	uint64_t ip;
	struct machine_value regs[16];
	uint32_t flags, flags_known;
	uint64_t of; /* the instruction that led here */
};

/* What was said at one step of those that follow it. */
struct prediction {
	unsigned length, checked;
	struct snapshot after[AHEAD];
};

static struct prediction ring[AHEAD];
static uint64_t sequences, instructions, differences, undecided, accesses;

static void take_state(const struct user_regs_struct *r, struct state *s)
{
	const uint64_t regs[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};

	s->ip = r->rip;
	s->flags = (uint32_t)r->eflags;
	memcpy(s->regs, regs, sizeof(regs));
}

static void tell(uint64_t ip, const char *what, uint64_t said, uint64_t is)
{
	uint8_t bytes[INSN_MAX_BYTES];
	char text[128] = "?";

	if (++differences > SHOWN_MAX)
		return;
	insn_format(bytes, safe_read_some(ip, bytes, sizeof(bytes)), text, sizeof(text));
	printf("%" PRIx64 " %s: %s said %" PRIx64 " is %" PRIx64 "\n", ip, text, what, said, is);
}

/* Do loads, stores and addresses agree with the whole decoder? */
static void check_effect(const uint8_t *bytes, size_t n, uint64_t ip,
			 const struct machine_effect *e)
{
	struct insn in;

	if (!insn_decode(bytes, n, ip, &in) || in.flow != FLOW_NEXT)
		return;
	if (in.loads != e->loads)
		tell(ip, "loads", e->loads, in.loads);
	if (in.stores != e->stores)
		tell(ip, "stores", e->stores, in.stores);
	if (in.has_memory && e->size != in.memory.size)
		tell(ip, "size", e->size, in.memory.size);
	accesses += e->loads || e->stores;
}

static void predict(const struct state *s, struct prediction *p)
{
	struct machine m;
	gregset_t regs = {0};

	for (unsigned i = 0; i < 16; i++)
		register_set(regs, i, s->regs[i]);
	regs[REG_EFL] = (greg_t)s->flags;
	machine_init(&m, NULL, s->ip, regs);
	p->length = p->checked = 0;
	while (p->length < AHEAD && is_code(m.ip)) {
		struct snapshot *to = &p->after[p->length];
		struct machine_effect effect;
		uint8_t bytes[INSN_MAX_BYTES];
		size_t n = safe_read_some(m.ip, bytes, sizeof(bytes));

		to->of = m.ip;
		if (machine_pass(&m, bytes, n, &effect) != MACHINE_PASSED) {
			undecided++;
			break;
		}
		check_effect(bytes, n, to->of, &effect);
		to->ip = m.ip;
		memcpy(to->regs, m.regs, sizeof(to->regs));
		to->flags = m.flags;
		to->flags_known = m.flags_known;
		p->length++;
	}
	if (p->length > 0)
		sequences++;
}

/* False when the sequence has gone wrong: what follows would, too. */
static bool agrees(const struct snapshot *said, const struct state *is)
{
	uint64_t before = differences;

	if (said->ip != is->ip) {
		tell(said->of, "rip", said->ip, is->ip);
		return false;
	}
	for (unsigned i = 0; i < 16; i++)
		if (said->regs[i].known && said->regs[i].bits != is->regs[i])
			tell(said->of, names[i], said->regs[i].bits, is->regs[i]);
	if ((said->flags ^ is->flags) & said->flags_known)
		tell(said->of, "flags", said->flags & said->flags_known,
		     is->flags & said->flags_known);
	return differences == before;
}

static void check_all(const struct state *is)
{
	for (unsigned i = 0; i < AHEAD; i++) {
		struct prediction *p = &ring[i];

		if (p->checked >= p->length)
			continue;
		instructions++;
		if (agrees(&p->after[p->checked], is))
			p->checked++;
		else
			p->length = 0;
	}
}

static void forget_all(void)
{
	for (unsigned i = 0; i < AHEAD; i++)
		ring[i].length = 0;
}

/* ---------------------------------------------------------------- threads */

static pid_t threads[THREADS_MAX];
static unsigned thread_count;

static bool is_traced(pid_t tid)
{
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i] == tid)
			return true;
	return false;
}

/* Threads that are not traced yet. errno says why there are none of them. */
static unsigned seize_new(void)
{
	unsigned before = thread_count;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", target);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && thread_count < THREADS_MAX && !is_traced(tid) &&
		    ptrace(PTRACE_SEIZE, tid, 0, 0) == 0)
			threads[thread_count++] = tid;
	}
	if (dir)
		(void)closedir(dir);
	return thread_count - before;
}

/* The signal that a stop is for, which is to be passed on; 0 for a trap of ours. */
static int wait_for(pid_t tid)
{
	int status, signal;

	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return -1;
	signal = WSTOPSIG(status);
	return signal == SIGTRAP || status >> 16 ? 0 : signal;
}

static int pending[THREADS_MAX]; /* signals to be passed on */

static void stop_from(unsigned first)
{
	for (unsigned i = first; i < thread_count; i++)
		if (threads[i] && ptrace(PTRACE_INTERRUPT, threads[i], 0, 0) < 0)
			threads[i] = 0;
	for (unsigned i = first; i < thread_count; i++) {
		if (!threads[i])
			continue;
		pending[i] = wait_for(threads[i]);
		if (pending[i] < 0)
			threads[i] = 0;
	}
}

/* Also those that others have made meanwhile. */
static void stop_all(void)
{
	unsigned first = 0;

	do {
		stop_from(first);
		first = thread_count;
	} while (seize_new() > 0);
}

/* A step over code that keeps the flags and takes them back leaves the trap flag set, as if the
 * program had: it would trap at each instruction. */
static void clear_trap_flag(unsigned i)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, threads[i], 0, &r) < 0 || !(r.eflags & TRAP_FLAG))
		return;
	r.eflags &= ~TRAP_FLAG;
	(void)ptrace(PTRACE_SETREGS, threads[i], 0, &r);
}

/* PTRACE_CONT or PTRACE_DETACH. */
static void let_all(enum __ptrace_request go)
{
	for (unsigned i = 0; i < thread_count; i++) {
		if (!threads[i])
			continue;
		clear_trap_flag(i);
		(void)ptrace(go, threads[i], 0, pending[i]);
	}
}

/* A thread that is made by one that is stepped would be stepped, too, by nobody. */
static bool at_system_call(uint64_t ip)
{
	uint8_t bytes[2] = {0};

	return !is_code(ip) && safe_read(ip, bytes, sizeof(bytes)) && bytes[0] == 0x0f &&
	       bytes[1] == 0x05;
}

/* Steps one stopped thread as long as it is in compiled code, or soon again. */
static void step(unsigned i)
{
	struct user_regs_struct r;
	unsigned outside = 0;
	uint64_t last = 0;

	forget_all();
	for (unsigned n = 0; n < STEPS; n++) {
		struct state s;
		int signal;

		if (ptrace(PTRACE_GETREGS, threads[i], 0, &r) < 0)
			return;
		take_state(&r, &s);
		/* A repeated instruction is at itself until it is done. */
		if (s.ip != last) {
			check_all(&s);
			ring[n % AHEAD].length = 0;
			if (is_code(s.ip))
				predict(&s, &ring[n % AHEAD]);
		}
		last = s.ip;
		outside = is_code(s.ip) ? 0 : outside + 1;
		if (outside > OUTSIDE_MAX || at_system_call(s.ip) ||
		    ptrace(PTRACE_SINGLESTEP, threads[i], 0, pending[i]) < 0)
			return;
		pending[i] = 0;
		signal = wait_for(threads[i]);
		if (signal < 0) {
			threads[i] = 0;
			return;
		}
		if (signal > 0) { /* Its handler runs next. */
			pending[i] = signal;
			forget_all();
		}
	}
}

static bool in_code(unsigned i)
{
	struct user_regs_struct r;

	return threads[i] && ptrace(PTRACE_GETREGS, threads[i], 0, &r) == 0 && is_code(r.rip);
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 3000000};
	uint64_t wanted;
	time_t end;

	if (argc != 4)
		return 2;
	target = (pid_t)strtol(argv[1], NULL, 10);
	wanted = strtoull(argv[2], NULL, 10);
	end = time(NULL) + strtol(argv[3], NULL, 10);
	if (seize_new() == 0) {
		printf("cannot trace process %d: %s\n", target, strerror(errno));
		return 77;
	}
	while (sequences < wanted && time(NULL) < end) {
		stop_all();
		find_code();
		for (unsigned i = 0; i < thread_count; i++)
			if (in_code(i))
				step(i);
		let_all(PTRACE_CONT);
		(void)nanosleep(&pause, NULL);
	}
	stop_all();
	let_all(PTRACE_DETACH);
	printf("sequences %" PRIu64 " instructions %" PRIu64 " undecided %" PRIu64
	       " accesses %" PRIu64 " differences %" PRIu64 "\n",
	       sequences, instructions, undecided, accesses, differences);
	return differences != 0;
}
