/* jxperfctl threads: the profiled threads of a JVM and what their debug registers watch. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "client/command/command.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/table.h"
#include "common/clock.h"
#include "proto/kinds.h"

#define REGISTERS_BYTES 256

static json_t *register_json(const Jxp__WatchedRegister *watched)
{
	json_t *object = json_object();
	char address[32];

	(void)snprintf(address, sizeof(address), "0x%" PRIx64, watched->address); /* Fits. */
	json_put(&object, "register", json_integer(watched->reg));
	json_put(&object, "kind", json_string(kind_option(watched->kind)));
	json_put(&object, "address", json_string(address));
	json_put(&object, "length", json_integer(watched->length));
	json_put(&object, "age_s", json_real((double)watched->age_ns / (double)NS_PER_S));
	return object;
}

static int print_json(const Jxp__ThreadList *list, struct err *err)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n_threads; i++) {
		const Jxp__ThreadState *thread = list->threads[i];
		json_t *object = json_object(), *registers = json_array();

		for (size_t j = 0; j < thread->n_registers; j++)
			json_push(&registers, register_json(thread->registers[j]));
		json_put(&object, "tid", json_integer(thread->tid));
		json_put(&object, "name", json_readable(thread->name));
		json_put(&object, "armed", json_integer((json_int_t)thread->armed));
		json_put(&object, "pairs", json_integer((json_int_t)thread->traps));
		json_put(&object, "registers", registers);
		json_push(&array, object);
	}
	return json_print(array, err);
}

/* "0:silent-load/4@0x7f.. 12ms", one for each register in use. */
static void describe_registers(char *text, size_t size, const Jxp__ThreadState *thread)
{
	size_t used = 0;

	(void)snprintf(text, size, "-"); /* Fits. */
	for (size_t i = 0; i < thread->n_registers; i++) {
		const Jxp__WatchedRegister *w = thread->registers[i];
		int n;

		if (w->kind == JXP__KIND__KIND_NONE)
			continue;
		n = snprintf(text + used, size - used, "%s%u:%s/%u@0x%" PRIx64 " %" PRIu64 "ms",
			     used ? "  " : "", w->reg, kind_option(w->kind), w->length, w->address,
			     w->age_ns / NS_PER_MS);
		if (n < 0 || (size_t)n >= size - used)
			return; /* More registers than x86 has: cut. */
		used += (size_t)n;
	}
}

static int print_table(const Jxp__ThreadList *list, struct err *err)
{
	static const char *const headings[] = {"TID", "NAME", "ARMED", "PAIRS", "WATCHED", NULL};
	_cleanup_(table_release) struct table t;
	char registers[REGISTERS_BYTES];

	table_init(&t, headings);
	for (size_t i = 0; i < list->n_threads; i++) {
		const Jxp__ThreadState *thread = list->threads[i];

		describe_registers(registers, sizeof(registers), thread);
		table_cell(&t, "%u", thread->tid);
		table_cell(&t, "%s", thread->name);
		table_cell(&t, "%" PRIu64, thread->armed);
		table_cell(&t, "%" PRIu64, thread->traps);
		table_cell(&t, "%s", registers);
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int threads(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__ThreadsRequest threads = JXP__THREADS_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct which_jvm jvm;
	int r = which_jvm_find(c, call->operands[0], &jvm, err);

	if (r < 0)
		return r;
	threads.pid = jvm.pid;
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_THREADS, &threads, &reply, err);
	if (r < 0)
		return r;
	return c->json ? print_json(reply->threads, err) : print_table(reply->threads, err);
}

const struct command cmd_threads = {"threads",
				    "PID|NAME",
				    "profiled threads and what they watch",
				    "PID|NAME",
				    .completes = COMPLETES_RUNNING,
				    .run = threads};
