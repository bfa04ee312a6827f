/*
 * How fast the engine takes in what an agent says of objects: `replay [EVENTS [RUNS]]`.
 *
 * A stream as a busy JVM's agent would send it is recorded into a file in memory: accesses,
 * allocations, deaths and moves by passes, at a steady number of tracked objects. For each run, one
 * process sends it through a socket while another receives it through the very path that the daemon
 * uses (stream, conversation, intake) and reports what that took. Rows: name value unit, medians
 * with least and most; CPU time is the receiver's, so that other load on the machine hardly
 * matters.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bench/figures.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "daemon/engine/conversation.h"
#include "profile/intake/intake.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_events.h"
#include "tests/unit/support/sample_findings.h"

#define EVENTS_DEFAULT 2000000
#define RUNS_DEFAULT   7
#define RUNS_MAX       99

/* Of 1000 events of a batch; deaths follow, as many as allocations. */
#define BATCH_ACCESSES    400
#define BATCH_ALLOCATIONS 280
#define BATCHES_PER_PASS  10
#define BATCH_NS          1000000
#define PASS_MOVES        400

#define LIVE_OBJECTS 30000
#define OBJECT_BYTES 4096
#define NODES        500
#define CLASSES      100

/* The young ones move, each to a place that nobody has. */
struct recorder {
	int fd;
	uint64_t random;
	uint64_t time_ns;
	uint64_t next_address;
	uint32_t next_object;
	uint32_t epoch;
	size_t events;
	uint64_t live_address[LIVE_OBJECTS]; /* a ring of the last objects */
	uint32_t live_id[LIVE_OBJECTS];
	size_t oldest;
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void send_message(const struct recorder *r, const Jxp__AgentFrame *frame)
{
	struct buffer out;

	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_AGENT);
	if (frame_append(&out, &frame->base, FRAME_MAX_AGENT) < 0 ||
	    write(r->fd, buffer_head(&out), buffer_length(&out)) != (ssize_t)buffer_length(&out))
		die("cannot record");
	buffer_release(&out);
}

static void send_batch(const struct recorder *r, Jxp__Batch *batch)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	batch->time_ns = batch->settled_ns = r->time_ns;
	frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
	frame.batch = batch;
	send_message(r, &frame);
}

static uint32_t next_random(struct recorder *r, uint32_t below)
{
	r->random = r->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((r->random >> 33) % below);
}

/* Small numbers are likelier than large ones, as hot objects and contexts are. */
static uint32_t next_skewed(struct recorder *r, uint32_t below)
{
	return next_random(r, 1 + next_random(r, below));
}

static void send_hello(const struct recorder *r)
{
	Jxp__AgentHello hello = JXP__AGENT_HELLO__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	hello.protocol = PROTOCOL_VERSION;
	frame.body_case = JXP__AGENT_FRAME__BODY_HELLO;
	frame.hello = &hello;
	send_message(r, &frame);
}

static void send_end(const struct recorder *r)
{
	Jxp__WindowEnded ended = JXP__WINDOW_ENDED__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	frame.body_case = JXP__AGENT_FRAME__BODY_ENDED;
	frame.ended = &ended;
	send_message(r, &frame);
}

static void send_definitions(struct recorder *r)
{
	static Jxp__Node nodes[NODES], *node_pointers[NODES];
	static Jxp__ObjectClass classes[CLASSES], *class_pointers[CLASSES];
	static char names[CLASSES][32];
	Jxp__Batch batch = JXP__BATCH__INIT;

	for (uint32_t i = 0; i < NODES; i++) {
		jxp__node__init(&nodes[i]);
		nodes[i].id = i + 1;
		nodes[i].parent = i < 10 ? 0 : next_random(r, i) % 200;
		nodes[i].bci = (int32_t)i;
		node_pointers[i] = &nodes[i];
	}
	for (uint32_t i = 0; i < CLASSES; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "org.example.Class%u", i);
		jxp__object_class__init(&classes[i]);
		classes[i].id = i + 1;
		classes[i].name = names[i];
		class_pointers[i] = &classes[i];
	}
	batch.nodes = node_pointers;
	batch.n_nodes = NODES;
	batch.classes = class_pointers;
	batch.n_classes = CLASSES;
	send_batch(r, &batch);
}

/* The oldest object's place in the ring goes to a new one; it dies at the next pass. */
static void allocate(struct recorder *r, struct event_allocation *a, uint32_t *dead)
{
	uint32_t node = next_skewed(r, NODES);

	a->object = ++r->next_object;
	a->tid = 1000 + next_random(r, 8);
	a->cpu = next_random(r, 2);
	a->epoch = r->epoch;
	a->time_ns = r->time_ns + next_random(r, BATCH_NS);
	a->address = r->next_address;
	a->size_bytes = 16 + next_random(r, OBJECT_BYTES - 16);
	a->weight = 524288.0 / (double)a->size_bytes;
	a->class_id = 1 + node % CLASSES;
	a->node = 1 + node;
	*dead = r->live_id[r->oldest];
	r->live_id[r->oldest] = a->object;
	r->live_address[r->oldest] = a->address;
	r->oldest = (r->oldest + 1) % LIVE_OBJECTS;
	r->next_address += OBJECT_BYTES;
}

static void access_memory(struct recorder *r, struct event_access *a)
{
	a->tid = 1000 + next_random(r, 8);
	a->cpu = (uint16_t)next_random(r, 2);
	a->epoch = r->epoch;
	a->time_ns = r->time_ns + next_random(r, BATCH_NS);
	a->address = r->live_address[(r->oldest + next_skewed(r, LIVE_OBJECTS)) % LIVE_OBJECTS] +
		     8 * next_random(r, OBJECT_BYTES / 8);
	a->length = 8;
	a->store = (uint8_t)next_random(r, 2);
	a->region = JXP__REGION__REGION_HEAP;
	a->node = 1 + next_skewed(r, NODES);
	a->weight = 5000000;
}

static void tell_position(struct recorder *r, struct sample_events *events, Jxp__Batch *batch,
			  uint32_t object, uint64_t address)
{
	struct event_position *p = sample_event(events, batch, EVENT_POSITION);

	p->epoch = r->epoch;
	p->object = object;
	p->address = address;
}

/* A collection between two batches: the dead go, some objects move. */
static void send_pass(struct recorder *r, struct sample_events *events, const uint32_t *dead,
		      size_t dead_count)
{
	Jxp__Batch batch = JXP__BATCH__INIT;
	struct event_settled *settled;

	r->epoch += 2;
	for (size_t i = 0; i < PASS_MOVES; i++) {
		size_t at = (r->oldest + LIVE_OBJECTS - 1 - i) % LIVE_OBJECTS;

		r->live_address[at] = r->next_address;
		r->next_address += OBJECT_BYTES;
		tell_position(r, events, &batch, r->live_id[at], r->live_address[at]);
	}
	for (size_t i = 0; i < dead_count; i++)
		tell_position(r, events, &batch, dead[i], 0);
	settled = sample_event(events, &batch, EVENT_SETTLED);
	settled->epoch = r->epoch;
	send_batch(r, &batch);
	r->events += PASS_MOVES + dead_count;
}

static void record(struct recorder *r, size_t events)
{
	static struct sample_events room;
	static uint32_t dead[BATCHES_PER_PASS * BATCH_ALLOCATIONS];
	size_t dead_count = 0;

	send_hello(r);
	send_definitions(r);
	for (size_t n = 1; r->events < events; n++) {
		Jxp__Batch batch = JXP__BATCH__INIT;

		for (size_t i = 0; i < BATCH_ALLOCATIONS; i++) {
			allocate(r, sample_event(&room, &batch, EVENT_ALLOCATION),
				 &dead[dead_count]);
			dead_count += dead[dead_count] != 0;
		}
		for (size_t i = 0; i < BATCH_ACCESSES; i++)
			access_memory(r, sample_event(&room, &batch, EVENT_ACCESS));
		r->time_ns += BATCH_NS;
		send_batch(r, &batch);
		r->events += BATCH_ALLOCATIONS + BATCH_ACCESSES;
		if (n % BATCHES_PER_PASS == 0) {
			send_pass(r, &room, dead, dead_count);
			dead_count = 0;
		}
	}
	send_end(r);
}

/* ---------------------------------------------------------------- the engine's side */

struct result {
	double cpu_s;
	double wall_s;
	long peak_kib;
	uint64_t attributed;
	uint64_t lost;
};

struct receiver {
	struct conversation *conversation;
	struct intake intake;
	bool ended;
};

static void on_frame(void *arg, const Jxp__AgentFrame *frame)
{
	struct receiver *r = arg;

	if (frame->body_case == JXP__AGENT_FRAME__BODY_BATCH &&
	    intake_batch(&r->intake, frame->batch) < 0)
		die("cannot take a batch");
}

static void on_question(void *arg, const Jxp__PerfOpenRequest *request)
{
	(void)arg;
	(void)request;
}

static void on_ended(void *arg, const char *reason)
{
	struct receiver *r = arg;

	(void)reason; /* The sender has sent all. */
	r->ended = true;
	conversation_close(r->conversation);
}

static void on_broken(void *arg, const char *reason)
{
	(void)arg;
	(void)reason; /* Nothing is sent. */
}

static double cpu_seconds(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* Cannot fail. */
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void receive(int fd, struct result *result)
{
	static const struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
						      .duration_ns = 3600 * NS_PER_S,
						      .objects_max = LIMIT_OBJECTS};
	struct window_result *window = window_result_new(1, 1, &request, &sample_findings);
	struct receiver receiver = {0};
	const struct conversation_callbacks callbacks = {.arg = &receiver,
							 .frame = on_frame,
							 .question = on_question,
							 .ended = on_ended,
							 .broken = on_broken};
	uint64_t begin = clock_monotonic_ns();
	double cpu = cpu_seconds();
	uint64_t unasked = 0;
	struct rusage usage;
	uv_loop_t loop;

	if (!window || uv_loop_init(&loop) < 0 ||
	    conversation_new(&receiver.conversation, &loop, fd, &unasked, &callbacks, NULL) < 0)
		die("cannot receive");
	window_result_start(window);
	intake_init(&receiver.intake, window);
	while (!receiver.ended)
		(void)uv_run(&loop, UV_RUN_ONCE);
	(void)intake_finish(&receiver.intake); /* Without memory it shows in what is attributed. */
	result->cpu_s = cpu_seconds() - cpu;
	result->wall_s = (double)(clock_monotonic_ns() - begin) / 1e9;
	(void)getrusage(RUSAGE_SELF, &usage); /* Cannot fail. */
	result->peak_kib = usage.ru_maxrss;
	result->attributed = window->objects.attributed.samples;
	for (int i = 0; i < LOSS_MAX; i++)
		result->lost += window->losses[i];
	conversation_free(receiver.conversation);
	intake_release(&receiver.intake);
	window_result_free(window);
}

static void send_all(int fd, int stream, off_t size)
{
	off_t at = 0;
	char c;

	while (at < size)
		if (sendfile(fd, stream, &at, (size_t)(size - at)) < 0)
			die("cannot send");
	(void)shutdown(fd, SHUT_WR); /* The other end may have gone. */
	while (read(fd, &c, 1) > 0)
		;
}

static void run_once(int stream, off_t size, struct result *result)
{
	int pair[2];
	pid_t sender, receiver;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		die("socketpair");
	sender = fork();
	if (sender == 0) {
		(void)close(pair[0]);
		send_all(pair[1], stream, size);
		_exit(0);
	}
	(void)close(pair[1]);
	receiver = fork();
	if (receiver == 0) {
		receive(pair[0], result);
		_exit(0);
	}
	(void)close(pair[0]);
	if (sender < 0 || receiver < 0 || waitpid(receiver, NULL, 0) < 0 ||
	    waitpid(sender, NULL, 0) < 0)
		die("cannot run");
}

static void row(const char *name, double *values, size_t count, const char *unit)
{
	figures_sort(values, count);
	printf("%s %.4g %s (%.4g to %.4g, %zu runs)\n", name, values[count / 2], unit, values[0],
	       values[count - 1], count);
}

int main(int argc, char **argv)
{
	static struct recorder recorder = {
	    .random = 1, .time_ns = NS_PER_S, .next_address = UINT64_C(1) << 33};
	size_t events = argc > 1 ? strtoul(argv[1], NULL, 10) : EVENTS_DEFAULT;
	size_t runs = argc > 2 ? strtoul(argv[2], NULL, 10) : RUNS_DEFAULT;
	double cpu[RUNS_MAX], wall[RUNS_MAX], peak[RUNS_MAX];
	struct result *result =
	    mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	off_t size;

	if (events < 1 || runs < 1 || runs > RUNS_MAX || result == MAP_FAILED) {
		(void)fputs("usage: replay [EVENTS [RUNS]]\n", stderr);
		return 2;
	}
	recorder.fd = memfd_create("replay", MFD_CLOEXEC);
	if (recorder.fd < 0)
		die("memfd_create");
	record(&recorder, events);
	size = lseek(recorder.fd, 0, SEEK_CUR);
	for (size_t i = 0; i < runs; i++) {
		*result = (struct result){0};
		run_once(recorder.fd, size, result);
		cpu[i] = (double)recorder.events / result->cpu_s;
		wall[i] = (double)recorder.events / result->wall_s;
		peak[i] = (double)result->peak_kib / 1024;
	}
	row("objects_replay_rate", cpu, runs, "events/s of CPU");
	row("objects_replay_wall_rate", wall, runs, "events/s");
	row("objects_replay_peak_memory", peak, runs, "MiB");
	printf("objects_replay_events %zu events, %.0f bytes each\n", recorder.events,
	       (double)size / (double)recorder.events);
	printf("objects_replay_attributed %llu events\n", (unsigned long long)result->attributed);
	printf("objects_replay_lost %llu events\n", (unsigned long long)result->lost);
	return 0;
}
