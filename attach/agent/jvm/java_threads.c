#include "attach/agent/jvm/java_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vmstructs.h"
#include "common/proc.h"

/* More than there can be. */
#define JAVA_THREADS_MAX (UINT32_C(1) << 20)

/* Times that the list is read anew because it changed meanwhile. */
#define LIST_TRIES 16u

/* So much of a JavaThread is read at a time. */
#define HEAD_BYTES 4096u

/* The thread that the agent was called in last, before the session thread began; it stays. */
static pid_t noted_tid;
static struct own_memory noted_memory; /* of libjvm.so's */

/* The same as long as the JVM lives. 0: not found yet. */
static struct java_threads found;

struct thread_list {
	uint64_t *threads; /* JavaThreads; may have been freed since */
	size_t count;
};

/* Offsets: in JavaThread, and in OSThread. */
struct thread_layout {
	uint64_t os_thread, terminated, tid, pthread;
	uint32_t alive; /* what terminated is then */
	size_t end;     /* of what is read */
};

/* This is read of a thread. */
struct thread_head {
	uint64_t functions;
	uint64_t os_thread;
	uint32_t terminated;
};

void java_threads_note(void)
{
	noted_memory = own_memory_of(vmstructs_symbol("gHotSpotVMStructs"));
	noted_tid = (pid_t)syscall(SYS_gettid);
}

static bool find_layout(struct thread_layout *l)
{
	int32_t alive;

	if ((!vmstructs_offset("JavaThread", "_osthread", &l->os_thread) &&
	     !vmstructs_offset("Thread", "_osthread", &l->os_thread)) ||
	    !vmstructs_offset("JavaThread", "_terminated", &l->terminated) ||
	    !vmstructs_offset("OSThread", "_thread_id", &l->tid) ||
	    !vmstructs_offset("OSThread", "_pthread_id", &l->pthread) ||
	    !vmstructs_int_constant("JavaThread::_not_terminated", &alive))
		return false;
	l->alive = (uint32_t)alive;
	l->end = (l->os_thread > l->terminated ? l->os_thread : l->terminated) + sizeof(uint64_t);
	return l->end <= HEAD_BYTES;
}

static bool read_head(const struct thread_layout *l, uint64_t thread, struct thread_head *out)
{
	uint8_t bytes[HEAD_BYTES];

	if (!safe_read(thread, bytes, l->end))
		return false;
	memcpy(&out->functions, bytes, sizeof(out->functions));
	memcpy(&out->os_thread, bytes + l->os_thread, sizeof(out->os_thread));
	memcpy(&out->terminated, bytes + l->terminated, sizeof(out->terminated));
	return true;
}

/* 0: not known. */
static pid_t tid_of(const struct thread_layout *l, const struct thread_head *head)
{
	int32_t tid;

	return safe_read(head->os_thread + l->tid, &tid, sizeof(tid)) && tid > 0 ? tid : 0;
}

static bool make_room(struct thread_list *list, uint64_t count)
{
	list->count = count;
	list->threads = count <= JAVA_THREADS_MAX ? calloc(count + 1, sizeof(uint64_t)) : NULL;
	return list->threads != NULL;
}

/* The JVM frees its list, and has another one, when a thread starts or ends (ThreadsSMRSupport,
 * threadSMR.cpp). What was read counts when the list is still that one. */
static bool copy_array(struct thread_list *out)
{
	uint64_t list, still = 0, length, threads;

	/* The length is an int. */
	return vmstructs_static_word("ThreadsSMRSupport", "_java_thread_list", &list) &&
	       vmstructs_field_word(list, "ThreadsList", "_length", &length) &&
	       vmstructs_field_word(list, "ThreadsList", "_threads", &threads) &&
	       make_room(out, (uint32_t)length) &&
	       safe_read(threads, out->threads, out->count * sizeof(uint64_t)) &&
	       vmstructs_static_word("ThreadsSMRSupport", "_java_thread_list", &still) &&
	       still == list;
}

/* To JDK 16 the tables have a chain instead, and how many are in it. */
static bool copy_chain(struct thread_list *out)
{
	uint64_t count, still = 0, next, next_offset;
	size_t n = 0;

	if (!vmstructs_offset("JavaThread", "_next", &next_offset) ||
	    !vmstructs_static_word("Threads", "_number_of_threads", &count) ||
	    !vmstructs_static_word("Threads", "_thread_list", &next) ||
	    !make_room(out, (uint32_t)count))
		return false;
	while (next && n < out->count) {
		out->threads[n++] = next;
		if (!safe_read(next + next_offset, &next, sizeof(next)))
			return false;
	}
	return next == 0 && n == out->count &&
	       vmstructs_static_word("Threads", "_number_of_threads", &still) &&
	       (uint32_t)still == out->count;
}

static bool copy_list(struct thread_list *list)
{
	for (unsigned i = 0; i < LIST_TRIES; i++) {
		if (copy_array(list))
			return true;
		free(list->threads);
		list->threads = NULL;
		if (copy_chain(list))
			return true;
		free(list->threads);
		list->threads = NULL;
	}
	return false;
}

/* A name, as far as the kernel has it: cut, or from JDK 26 on without its middle. */
struct kernel_name {
	const char *before_26, *since;
};

static bool is_called(pid_t tid, const struct kernel_name *name)
{
	char path[64], comm[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid); /* It fits. */
	n = proc_read(path, comm, sizeof(comm));
	if (n <= 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	return strcmp(comm, name->before_26) == 0 || strcmp(comm, name->since) == 0;
}

/* The one of the JVM's own threads that runs an application's code, listeners to what the JVM notes
 * of memory and collections (NotificationThread, from JDK 14 on). */
static const struct kernel_name notifies = {"Notification Th", "Notific..Thread"};

/* A thread that each JVM has from its start to its end, and whose class is that of an
 * application's: java.lang.ref.Reference begins it. */
static const struct kernel_name example_name = {"Reference Handl", "Referen..andler"};

/* Where the noted thread has its JavaThread. */
/* So many threads are looked at for it. */
#define OWN_CHECKED 64u

/* Has every thread of the list its JavaThread there, as far as that can be read? */
static bool is_own_of_all(const struct thread_layout *l, const struct thread_list *list,
			  const struct own_word *word)
{
	unsigned checked = 0;

	for (size_t i = 0; i < list->count && checked < OWN_CHECKED; i++) {
		uint64_t os_thread, pthread, there;

		if (!safe_read(list->threads[i] + l->os_thread, &os_thread, sizeof(os_thread)) ||
		    !safe_read(os_thread + l->pthread, &pthread, sizeof(pthread)))
			continue;
		there = own_word_of(pthread, word);
		if (there && there != list->threads[i])
			return false;
		checked += there != 0;
	}
	return checked > 1;
}

/* The noted thread may have its JavaThread in other words, too (with ZGC it has). */
static bool find_own(const struct thread_layout *l, const struct thread_list *list, uint64_t noted,
		     struct own_word *out)
{
	struct own_word own = noted_memory.begin;
	uint64_t word;

	for (uint64_t at = 0; at + sizeof(word) <= noted_memory.bytes; at += sizeof(word)) {
		own.offset = (uint32_t)at;
		if (!safe_read(noted_memory.address + at, &word, sizeof(word)) || word != noted ||
		    !is_own_of_all(l, list, &own))
			continue;
		*out = own;
		return true;
	}
	return false;
}

static bool find_stacks(struct java_threads *f)
{
	uint64_t base, size;

	if (!vmstructs_offset("JavaThread", "_stack_base", &base) ||
	    !vmstructs_offset("JavaThread", "_stack_size", &size))
		return false;
	f->stack_base = (uint32_t)base;
	f->stack_size = (uint32_t)size;
	return true;
}

static void find_facts(const struct thread_layout *l, const struct thread_list *list)
{
	uint64_t noted = 0, example = 0;
	struct java_threads f;
	pid_t tid;
	struct thread_head head;

	for (size_t i = 0; i < list->count && (!noted || !example); i++) {
		tid = read_head(l, list->threads[i], &head) ? tid_of(l, &head) : 0;
		if (tid && tid == noted_tid)
			noted = list->threads[i];
		if (tid && !example && is_called(tid, &example_name)) {
			example = list->threads[i];
			f.functions = head.functions;
		}
	}
	if (!noted || !example || !find_own(l, list, noted, &f.own) || !find_stacks(&f))
		return;
	found = f;
}

static bool open_list(struct thread_layout *l, struct thread_list *list)
{
	if (!find_layout(l) || !copy_list(list))
		return false;
	if (!found.functions)
		find_facts(l, list);
	return found.functions != 0;
}

bool java_threads_facts(struct java_threads *out)
{
	struct thread_list list = {0};
	struct thread_layout l;
	bool known = found.functions || open_list(&l, &list);

	free(list.threads);
	*out = found;
	return known;
}

bool java_threads_each(void (*each)(void *arg, pid_t tid), void *arg)
{
	struct thread_list list = {0};
	struct thread_layout l;
	struct thread_head head;
	bool known = open_list(&l, &list);
	pid_t tid;

	for (size_t i = 0; known && i < list.count; i++) {
		if (!read_head(&l, list.threads[i], &head) || head.terminated != l.alive)
			continue;
		tid = tid_of(&l, &head);
		if (tid && (head.functions == found.functions || is_called(tid, &notifies)))
			each(arg, tid);
	}
	free(list.threads);
	return known;
}
