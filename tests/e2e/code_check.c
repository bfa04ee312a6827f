/*
 * A JVMTI agent for tests, -agentpath:code_check.so: when its JVM ends, holds the compiled methods
 * that are read from its code heaps against those that the JVM replays itself, its stubs likewise,
 * and says how they compare. With the option "beside" a thread of its own reads them over and over
 * from the JVM's first moment on, beside compilers and sweepers.
 */
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/code_facts.h"
#include "attach/agent/jvm/installed_code.h"
#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/java_name.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/stack/scopes.h"
#include "common/code/insn.h"
#include "common/code/opcode.h"

static struct {
	unsigned compared;
	unsigned linkers; /* of method handles: a stub for us */
	unsigned missing;
	unsigned different; /* in start, size or method */
	unsigned places;    /* with other places of debug information */
	unsigned calls;     /* places where others are inlined */
	unsigned stubs;     /* compared */
	unsigned others;    /* of another type, or not told apart */
	unsigned checks;    /* null checks, */
	unsigned misplaced; /* of which these are at no instruction that can fault */
} tally;

static jvmtiEnv *jvmti;
static struct frame_layout layout;
static unsigned release; /* of the JDK */
static bool beside, is_prepared;
static _Thread_local bool compares;
static _Atomic bool ends;
static _Atomic unsigned rounds;

/* To JDK 24 an id is the address of a word with the method's; later ones are numbers. */
#define RELEASE_OF_NUMBERS 25u

/* By what it is called. */
static bool is_called(const struct method_copy *copy, const char *signature, const char *name,
		      const char *descriptor)
{
	char *ours = java_name_of_symbol(method_copy_text(copy, METHOD_CLASS));
	char *theirs = java_name_of(signature);
	bool same = ours && theirs && strcmp(ours, theirs) == 0 &&
		    strcmp(method_copy_text(copy, METHOD_NAME), name) == 0 &&
		    strcmp(method_copy_text(copy, METHOD_DESCRIPTOR), descriptor) == 0;

	free(ours);
	free(theirs);
	return same;
}

static bool same_names(uint64_t method, jmethodID id)
{
	uint32_t number = method_number(method_table(), &layout.method, method, 1);
	char *name = NULL, *descriptor = NULL, *signature = NULL;
	jclass class;
	bool same;

	if (!number) { /* There may be no more room. */
		method_table_release();
		number = method_number(method_table(), &layout.method, method, 1);
	}
	if (!number ||
	    (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return false;
	same = is_called(method_of_number(method_table(), number), signature, name, descriptor);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return same;
}

static bool same_method(uint64_t method, jmethodID id)
{
	return release < RELEASE_OF_NUMBERS ? method == *(const uint64_t *)id
					    : same_names(method, id);
}

static bool same_calls(const PCStackInfo *told, const struct code_blob *blob)
{
	struct scope_call calls[SCOPES_MAX];
	struct code_heap_blob in;
	unsigned count;

	if (!code_heap_find(&layout.code, blob->start, &in))
		return false;
	count = scopes_at(&layout.scopes, in.start, blob->start, (uintptr_t)told->pc, false,
			  blob->method, calls);
	if (count != (unsigned)told->numstackframes)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (calls[i].bci != told->bcis[i] ||
		    !same_method(calls[i].method, told->methods[i]))
			return false;
	return true;
}

static bool same_places(const jvmtiCompiledMethodLoadInlineRecord *record, const char *code,
			const struct code_blob *blob)
{
	uint32_t known = 0;

	for (jint i = 0; i < record->numpcs; i++) {
		intptr_t offset = (const char *)record->pcinfo[i].pc - code;

		tally.calls += !same_calls(&record->pcinfo[i], blob);
		if (offset > UINT16_MAX)
			continue; /* Nothing is kept of those. */
		if (known == blob->debug_pc_count || blob->debug_pcs[known] != offset)
			return false;
		known++;
	}
	return known == blob->debug_pc_count;
}

#define CHECKS_MAX 8192u

/* Division by zero faults, too (opcode F7, /6 and /7), which C1 makes use of. Where a class was not
 * loaded C1 has a jump in the place of the access, until it is. */
static bool may_fault(const uint8_t *bytes, size_t available, uint64_t ip)
{
	struct opcode o;
	struct insn insn;

	if (!insn_decode(bytes, available, ip, &insn) || !opcode_read(bytes, available, &o))
		return false;
	return insn.has_memory || insn.loads || insn.stores || insn.unsupported ||
	       opcode_is(&o, 0xe9) || (opcode_is(&o, 0xf7) && opcode_group(&o) >= 6);
}

/* Each is at an instruction that may fault, and goes on in the code. */
static void look_at_checks(const struct code_blob *blob)
{
	static struct code_null_check checks[CHECKS_MAX];
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)blob->start;
	struct code_heap_blob in;
	uint32_t count;

	if (!code_heap_find(&layout.code, blob->start, &in))
		return;
	count = scopes_null_checks(&layout.scopes, in.start, checks, CHECKS_MAX);
	tally.checks += count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = checks[i].offset;

		tally.misplaced += at >= blob->size || checks[i].continuation >= blob->size ||
				   !may_fault(bytes + at, blob->size - at, blob->start + at);
	}
}

static void each_checks(void *arg, uint64_t blob)
{
	struct code_blob found;

	(void)arg;
	if (codemap_find(code_heap_begin(&layout.code, blob), &found) &&
	    found.type == CODE_COMPILED)
		look_at_checks(&found);
}

/* JDK 11 tells of instructions only, not of the handlers behind them, which later ones count as
 * code, too. */
static bool same_size(uint32_t read, uint32_t told)
{
	return read == told || (release == 11 && read > told && read - told < 4096);
}

static void compare(jmethodID method, jint size, const void *code, const void *info)
{
	const jvmtiCompiledMethodLoadInlineRecord *record = info;
	struct code_blob blob;

	tally.compared++;
	/* Compilers go on beside: what they make after all was read is met, and then read. */
	if (!codemap_find((uintptr_t)code, &blob))
		installed_code_read_met(&layout);
	if (!codemap_find((uintptr_t)code, &blob)) {
		tally.missing++;
		return;
	}
	if (blob.type == CODE_TO_JAVA && blob.size == (uint32_t)size) {
		tally.linkers++;
		return;
	}
	tally.different += blob.start != (uintptr_t)code || !same_method(blob.method, method) ||
			   !same_size(blob.size, (uint32_t)size);
	if (record && record->header.kind == JVMTI_CMLR_INLINE_INFO)
		tally.places += !same_places(record, code, &blob);
}

static void JNICALL on_load(jvmtiEnv *env, jmethodID method, jint size, const void *code,
			    jint map_length, const jvmtiAddrLocationMap *map, const void *info)
{
	(void)env, (void)map_length, (void)map;
	if (compares)
		compare(method, size, code, info);
}

/* By what the JVM calls it. A method handle's own entries have no name of a kind. */
static enum code_type type_called(const char *name)
{
	static const struct {
		const char *part;
		enum code_type type;
	} parts[] = {
	    {"Interpreter", CODE_INTERPRETER}, {"throw_exception", CODE_NO_RETURN},
	    {"throw_", CODE_NO_RETURN},        {"UncommonTrap", CODE_NO_RETURN},
	    {"deoptimize", CODE_NO_RETURN},    {"unwind_exception", CODE_NO_RETURN},
	    {"adapters", CODE_TO_JAVA},        {"vtable stub", CODE_TO_JAVA},
	    {"itable stub", CODE_TO_JAVA},     {"resolve_", CODE_TO_JAVA},
	    {"wrong_method", CODE_TO_JAVA},    {"ic_miss", CODE_TO_JAVA},
	    {"_linkTo", CODE_TO_JAVA},         {"_invoke", CODE_TO_JAVA},
	};

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i].part))
			return parts[i].type;
	return CODE_STUB;
}

/* Before a routine's frame there are few instructions, if any. */
#define ENTRY_BYTES 64u

static void JNICALL on_dynamic(jvmtiEnv *env, const char *name, const void *code, jint size)
{
	uint64_t start = (uintptr_t)code;
	struct code_blob first, last;

	(void)env;
	if (!compares)
		return;
	tally.stubs++;
	/* As for compiled methods, which may have made it necessary. */
	if (!codemap_find(start, &first))
		installed_code_read_met(&layout);
	if (!codemap_find(start, &first) || !codemap_find(start + (uint32_t)size - 1, &last) ||
	    first.type != type_called(name) || last.type != first.type ||
	    (strstr(name, "arraycopy") && last.start > start + ENTRY_BYTES))
		tally.others++;
}

static bool empty_map(void)
{
	uint64_t low, high;

	return vmstructs_code_cache(&low, &high) && codemap_init(low, high, &layout.code) == 0;
}

/* When the JVM begins, in a thread that runs no Java code, as the agent's session thread. */
static bool prepare(void)
{
	const char *missing;

	if (safe_read_init() < 0)
		return false;
	java_threads_note();
	missing = code_facts_read(release, &layout);
	if (missing)
		fprintf(stderr, "not told: %s\n", missing);
	return !missing && method_table_init() == 0 && empty_map();
}

static void JNICALL read_beside(jvmtiEnv *env, JNIEnv *jni, void *arg)
{
	(void)env, (void)jni, (void)arg;
	while (!atomic_load(&ends)) {
		(void)installed_code_read(&layout);
		atomic_fetch_add(&rounds, 1);
	}
	atomic_store(&ends, false); /* Done. */
}

static void start_reader(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID make = (*jni)->GetMethodID(jni, class, "<init>", "()V");
	jthread reader = (*jni)->NewObject(jni, class, make);

	if ((*jvmti)->RunAgentThread(jvmti, reader, read_beside, NULL,
				     JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE)
		abort();
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)env, (void)thread;
	is_prepared = prepare();
	if (is_prepared && beside)
		start_reader(jni);
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni)
{
	bool complete;

	(void)env, (void)jni;
	if (atomic_load(&rounds) > 0) {
		atomic_store(&ends, true);
		while (atomic_load(&ends))
			;
	}
	code_heap_learn_names(&layout.code); /* At its begin the JVM had none. */
	complete = is_prepared && empty_map() && installed_code_read(&layout) == 0;
	compares = true;
	if ((*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) != JVMTI_ERROR_NONE)
		abort();
	if ((*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) != JVMTI_ERROR_NONE)
		abort();
	compares = false;
	if (complete)
		code_heap_each(&layout.code, each_checks, NULL);
	printf("\ncode %s: %u compared, %u linkers, %u missing, %u different, %u places, %u calls, "
	       "%u stubs, %u others, %u checks, %u misplaced, %u rounds\n",
	       complete ? "read" : "left", tally.compared, tally.linkers, tally.missing,
	       tally.different, tally.places, tally.calls, tally.stubs, tally.others, tally.checks,
	       tally.misplaced, atomic_load(&rounds));
	(void)fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *jvm, char *options, void *reserved)
{
	const jvmtiCapabilities wanted = {.can_generate_compiled_method_load_events = 1};
	const jvmtiEventCallbacks callbacks = {.VMInit = on_start,
					       .VMDeath = on_death,
					       .CompiledMethodLoad = on_load,
					       .DynamicCodeGenerated = on_dynamic};
	jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_COMPILED_METHOD_LOAD,
			       JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_VM_INIT};
	char *version;

	(void)reserved;
	beside = options && strcmp(options, "beside") == 0;
	if ((*jvm)->GetEnv(jvm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &version) !=
		JVMTI_ERROR_NONE)
		return JNI_ERR;
	release = (unsigned)strtoul(version, NULL, 10);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
		    JVMTI_ERROR_NONE)
			return JNI_ERR;
	return JNI_OK;
}
