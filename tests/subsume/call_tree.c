/*
 * A JVMTI agent for tests alone: counts every call of a program that runs to its end, exactly, in
 * one calling context tree, and writes that down. It makes the program some hundred times slower.
 *
 *   java -agentpath:libcall_tree.so=FILE ...
 *
 * The file: a line "methods N", N lines with a method's name each (the virtual root is number 0 and
 * has none), a line "nodes N", and N lines "depth method calls" in preorder.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES_MAX   (1u << 25)
#define SLOTS       (1u << 26)
#define METHODS_MAX (1u << 18)

struct node {
	uint32_t parent;
	uint32_t method;
	uint32_t first_child;
	uint32_t next_sibling;
	uint64_t calls;
};

static jvmtiEnv *jvmti;
static char path[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes; /* node 0 is the virtual root */
static uint32_t node_count = 1;
static uint32_t *slots; /* by parent and method */
static jmethodID methods[METHODS_MAX];
static uint32_t method_slots[METHODS_MAX * 2];
static uint32_t method_count = 1;
static bool over, full;

/* Of a thread: where it is in the tree. Frames that it had before the first event are not known. */
static __thread uint32_t at;

static uint32_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return (uint32_t)(x ^ x >> 33);
}

static uint32_t number_of(jmethodID method)
{
	for (uint32_t i = mix((uintptr_t)method);; i++) {
		uint32_t *slot = &method_slots[i % (METHODS_MAX * 2)];

		if (*slot && methods[*slot] == method)
			return *slot;
		if (*slot)
			continue;
		if (method_count == METHODS_MAX) {
			full = true;
			return 0;
		}
		methods[method_count] = method;
		*slot = method_count++;
		return *slot;
	}
}

static uint32_t child_of(uint32_t parent, uint32_t method)
{
	for (uint32_t i = mix((uint64_t)parent << 32 | method);; i++) {
		uint32_t *slot = &slots[i % SLOTS];
		struct node *n = &nodes[*slot];

		if (*slot && n->parent == parent && n->method == method)
			return *slot;
		if (*slot)
			continue;
		if (node_count == NODES_MAX) {
			full = true;
			return parent;
		}
		*slot = node_count++;
		n = &nodes[*slot];
		n->parent = parent;
		n->method = method;
		n->next_sibling = nodes[parent].first_child;
		nodes[parent].first_child = *slot;
		return *slot;
	}
}

static void JNICALL entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method)
{
	(void)env, (void)jni, (void)thread;
	pthread_mutex_lock(&lock);
	if (!over) {
		at = child_of(at, number_of(method));
		nodes[at].calls++;
	}
	pthread_mutex_unlock(&lock);
}

static void JNICALL left(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
			 jboolean popped, jvalue value)
{
	(void)env, (void)jni, (void)thread, (void)popped, (void)value;
	pthread_mutex_lock(&lock);
	if (at && methods[nodes[at].method] == method)
		at = nodes[at].parent;
	pthread_mutex_unlock(&lock);
}

static void write_method(FILE *out, jmethodID method)
{
	char *signature = NULL, *name = NULL, *descriptor = NULL;
	jclass class;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) ||
	    (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL)) {
		(void)fputs("unknown\n", out);
		return;
	}
	for (char *c = signature; *c; c++)
		if (*c == '/')
			*c = '.';
	(void)fprintf(out, "%.*s.%s%s\n", (int)strlen(signature) - 2, signature + 1, name,
		      descriptor);
}

static void write_nodes(FILE *out)
{
	uint32_t n = 0;
	unsigned depth = 0;

	while (true) {
		(void)fprintf(out, "%u %u %lu\n", depth, nodes[n].method,
			      (unsigned long)nodes[n].calls);
		if (nodes[n].first_child) {
			n = nodes[n].first_child;
			depth++;
			continue;
		}
		while (n && !nodes[n].next_sibling) {
			n = nodes[n].parent;
			depth--;
		}
		if (!n)
			return;
		n = nodes[n].next_sibling;
	}
}

static void JNICALL ended(jvmtiEnv *env, JNIEnv *jni)
{
	FILE *out = fopen(path, "w");

	(void)env, (void)jni;
	pthread_mutex_lock(&lock);
	over = true;
	pthread_mutex_unlock(&lock);
	if (!out || full) {
		(void)fprintf(stderr, "call_tree: %s\n", full ? "the tree is too large" : path);
		_exit(1);
	}
	(void)fprintf(out, "methods %u\n\n", method_count);
	for (uint32_t i = 1; i < method_count; i++)
		write_method(out, methods[i]);
	(void)fprintf(out, "nodes %u\n", node_count);
	write_nodes(out);
	if (fclose(out))
		(void)fprintf(stderr, "call_tree: cannot write %s\n", path);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	static const jvmtiEvent events[] = {JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT,
					    JVMTI_EVENT_VM_DEATH};
	jvmtiCapabilities wanted = {.can_generate_method_entry_events = 1,
				    .can_generate_method_exit_events = 1};
	jvmtiEventCallbacks callbacks = {
	    .MethodEntry = entered, .MethodExit = left, .VMDeath = ended};

	(void)reserved;
	(void)snprintf(path, sizeof(path), "%s", options ? options : "calls.txt");
	nodes = calloc(NODES_MAX, sizeof(*nodes)); /* Pages are there once they are touched. */
	slots = calloc(SLOTS, sizeof(*slots));
	if (!nodes || !slots || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)))
		return JNI_ERR;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL))
			return JNI_ERR;
	return JNI_OK;
}
