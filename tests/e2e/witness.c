/*
 * What AsyncGetCallTrace says of the stacks that the agent walks
 * (src/hotspot/share/prims/forte.cpp): linked into an agent for tests, which then asks the JVM at
 * the same signal for each stack that was told, and counts those of which the two say something
 * else (contexts_walked, contexts_differ). The JVM needs a listener of class loads for that, and
 * ids for the methods of all classes beforehand.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/path/debug_info.h"

/* They lie on the stack of a thread that the handler came upon. */
#define FRAMES_MAX 512

/* What the JVM gives as the bytecode of a native method. */
#define NATIVE_BCI (-3)

struct agct_frame {
	jint bci;
	jmethodID method;
};

struct agct_trace {
	JNIEnv *env;
	jint count; /* frames, or a negative reason */
	struct agct_frame *frames;
};

static void (*get_trace)(struct agct_trace *trace, jint depth, void *ucontext);
static JavaVM *vm;

/* Where a Method's id is (Method::find_jmethod_id_or_null). */
static struct {
	uint64_t method_const, const_constants, const_number, pool_holder, holder_ids;
} at;

static uint64_t id_of(const struct call *call)
{
	uint64_t method =
	    method_of_number(handlers.walker.tables.methods, call->method)->look.method;
	uint64_t constants, holder, ids, count, const_method, id;
	uint16_t in_class;

	return safe_read(method + at.method_const, &const_method, sizeof(const_method)) &&
		       safe_read(const_method + at.const_constants, &constants,
				 sizeof(constants)) &&
		       safe_read(const_method + at.const_number, &in_class, sizeof(in_class)) &&
		       safe_read(constants + at.pool_holder, &holder, sizeof(holder)) &&
		       safe_read(holder + at.holder_ids, &ids, sizeof(ids)) &&
		       safe_read(ids, &count, sizeof(count)) && in_class < count &&
		       safe_read(ids + (in_class + 1u) * sizeof(id), &id, sizeof(id))
		   ? id
		   : 0;
}

/* Is this what was walked? Of the better innermost calls only the last one's method counts, and the
 * JVM may have more of them, or fewer; then what is cut at its root cannot be compared. An
 * interpreted innermost frame the JVM leaves out where it cannot make it out
 * (find_initial_Java_frame). */
static bool is_same(const struct frame_walk *walk, const struct call *own,
		    const struct agct_frame *calls, unsigned count)
{
	unsigned left = walk->count, better = walk->better;

	if (walk->interpreted && left == count + 1) {
		own++;
		left = count;
		better = 0;
	}
	if (left != count && better == 0)
		return false;
	if (left != count && count == FRAMES_MAX)
		return true;
	for (; left > 0; left--, own++) {
		const struct agct_frame *call = &calls[count - left];

		if (better <= 1 && (left > count || id_of(own) != (uintptr_t)call->method ||
				    (better == 0 && own->bci != call->bci)))
			return false;
		better -= better > 0;
	}
	return true;
}

/* The JVM ends at a frame that is to be deoptimised; it leaves out a native method that has called
 * a stub; and it goes on with the frames of what carries a virtual thread, behind a native method
 * that enters it (Continuation.enterSpecial). */
static bool agrees(const struct frame_walk *walk, const struct call *own,
		   const struct agct_frame *calls, unsigned count)
{
	struct frame_walk less = *walk;

	if (walk->deoptimised || is_same(walk, own, calls, count))
		return true;
	less.count--;
	less.better = 0;
	if (walk->in_stub && is_same(&less, own + 1, calls, count))
		return true;
	for (unsigned length = 1; walk->fiber && length <= count; length++)
		if ((length == count || calls[length].bci == NATIVE_BCI) &&
		    is_same(walk, own, calls, length))
			return true;
	return false;
}

/* With the thread at ip. */
static enum stack_witness ask(const struct stack_place *place, const struct frame_walk *walk,
			      uint64_t ip)
{
	struct agct_frame frames[FRAMES_MAX];
	struct agct_trace trace = {.frames = frames};
	ucontext_t here = *place->uc;

	if ((*vm)->GetEnv(vm, (void **)&trace.env, JNI_VERSION_1_6) != JNI_OK)
		return WITNESS_NONE;
	here.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
	get_trace(&trace, FRAMES_MAX, &here);
	if (trace.count <= 0)
		return WITNESS_NONE;
	return agrees(walk, place->calls, frames, (unsigned)trace.count) ? WITNESS_AGREES
									 : WITNESS_DIFFERS;
}

/* At the instruction's record and at the instruction itself: the frame may begin or end in between.
 */
static enum stack_witness ask_twice(const struct stack_place *place, const struct frame_walk *walk)
{
	enum stack_witness said = ask(place, walk, debug_info_ip(place->ip));

	return said == WITNESS_DIFFERS ? ask(place, walk, place->ip) : said;
}

static bool is_as_before(const struct stack_place *now, const struct frame_walk *w,
			 const struct stack_place *before, const struct frame_walk *b)
{
	return w->count == b->count && w->deoptimised == b->deoptimised &&
	       memcmp(now->calls, before->calls, w->count * sizeof(*now->calls)) == 0;
}

/* Into the JVM's output, for whoever has to find out why. */
static void tell(const struct stack_place *place, const struct frame_walk *walk)
{
	struct agct_frame frames[FRAMES_MAX];
	struct agct_trace trace = {.frames = frames};
	ucontext_t here = *place->uc;

	dprintf(STDERR_FILENO,
		"witness: ip %#lx, record %#lx, better %u, compiled %u, called %d%d%d%d%d\n",
		place->ip, debug_info_ip(place->ip), walk->better, walk->compiled,
		walk->called_behind != 0, walk->interpreted, walk->in_stub, walk->fiber,
		walk->deoptimised);
	for (unsigned i = 0; i < walk->count; i++)
		dprintf(STDERR_FILENO, "walked %#lx bci %d\n", id_of(&place->calls[i]),
			place->calls[i].bci);
	if ((*vm)->GetEnv(vm, (void **)&trace.env, JNI_VERSION_1_6) != JNI_OK)
		return;
	here.uc_mcontext.gregs[REG_RIP] = (greg_t)debug_info_ip(place->ip);
	get_trace(&trace, FRAMES_MAX, &here);
	for (jint i = 0; i < trace.count; i++)
		dprintf(STDERR_FILENO, "JVM %#lx bci %d\n", (uintptr_t)frames[i].method,
			frames[i].bci);
}

/* What a thread outside Java code has on its stack another one may deoptimise while it is looked
 * at: a difference counts where the stack is walked once more, and is the same, and differs. */
static enum stack_witness witness(const struct stack_walker *walker,
				  const struct stack_place *place, const struct frame_walk *walk)
{
	struct call calls[FRAMES_MAX];
	struct stack_place again = *place;
	struct frame_walk w;
	enum stack_witness said;

	/* What does not stand the JVM cannot walk from. */
	if (walk->at_edge)
		return WITNESS_NONE;
	said = ask_twice(place, walk);
	if (said != WITNESS_DIFFERS || walk->count > FRAMES_MAX)
		return said;
	again.calls = calls;
	again.max_frames = FRAMES_MAX;
	if (!stack_walk(walker, &again, &w) || !is_as_before(&again, &w, place, walk))
		return WITNESS_NONE;
	said = ask_twice(&again, &w);
	if (said == WITNESS_DIFFERS)
		tell(&again, &w);
	return said;
}

/* ---------------------------------------------------------------- beforehand */

static void give_ids(jvmtiEnv *jvmti, jclass class)
{
	jmethodID *methods;
	jint count;

	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	(void)jvmti, (void)jni, (void)thread, (void)class;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	(void)jni, (void)thread;
	give_ids(jvmti, class);
}

static bool listen(jvmtiEnv *jvmti)
{
	const jvmtiEventCallbacks callbacks = {.ClassLoad = on_class_load,
					       .ClassPrepare = on_class_prepare};
	jclass *classes;
	jint count;

	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL) !=
		JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE,
					       NULL) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < count; i++)
		give_ids(jvmti, classes[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	return true;
}

/* In the thread of the JVM's that loads the agent. */
__attribute__((constructor)) static void begin(void)
{
	jint (*created)(JavaVM **, jsize, jsize *);
	jvmtiEnv *jvmti;
	jsize count;

	*(void **)&created = vmstructs_symbol("JNI_GetCreatedJavaVMs");
	*(void **)&get_trace = vmstructs_symbol("AsyncGetCallTrace");
	if (created && get_trace && created(&vm, 1, &count) == JNI_OK && count == 1 &&
	    (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) == JNI_OK &&
	    vmstructs_offset("Method", "_constMethod", &at.method_const) &&
	    vmstructs_offset("ConstMethod", "_constants", &at.const_constants) &&
	    vmstructs_offset("ConstMethod", "_method_idnum", &at.const_number) &&
	    vmstructs_offset("ConstantPool", "_pool_holder", &at.pool_holder) &&
	    vmstructs_offset("InstanceKlass", "_methods_jmethod_ids", &at.holder_ids) &&
	    listen(jvmti))
		handlers.walker.witness = witness;
}
