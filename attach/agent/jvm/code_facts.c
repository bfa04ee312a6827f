#include "attach/agent/jvm/code_facts.h"

#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/method_facts.h"
#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/method_copy.h"

static bool offset_of(const char *type, const char *field, uint32_t *out)
{
	uint64_t offset;

	if (!vmstructs_offset(type, field, &offset))
		return false;
	*out = (uint32_t)offset;
	return true;
}

static bool read_heap(uint64_t address, struct code_heap *out)
{
	uint32_t memory, map, shift, low_boundary, high_boundary, low, high;
	struct code_heap h = {0};
	int32_t segment_shift;

	if (!offset_of("CodeHeap", "_memory", &memory) || !offset_of("CodeHeap", "_segmap", &map) ||
	    !offset_of("CodeHeap", "_log2_segment_size", &shift) ||
	    !offset_of("VirtualSpace", "_low_boundary", &low_boundary) ||
	    !offset_of("VirtualSpace", "_high_boundary", &high_boundary) ||
	    !offset_of("VirtualSpace", "_low", &low) || !offset_of("VirtualSpace", "_high", &high))
		return false;
	if (!safe_read(address + memory + low_boundary, &h.low, sizeof(h.low)) ||
	    !safe_read(address + memory + high_boundary, &h.high, sizeof(h.high)) ||
	    !safe_read(address + map + low, &h.segments, sizeof(h.segments)) ||
	    !safe_read(address + shift, &segment_shift, sizeof(segment_shift)) || !h.segments ||
	    h.low >= h.high || segment_shift < 4 || segment_shift > 16)
		return false;
	h.segments_end = (const uint64_t *)(uintptr_t)(address + map + high);
	h.committed_end = (const uint64_t *)(uintptr_t)(address + memory + high);
	h.segment_shift = (unsigned)segment_shift;
	*out = h;
	return true;
}

static bool read_heaps(struct code_layout *l)
{
	uint64_t array, data, heap;
	uint32_t length_at, data_at;
	int32_t length;

	if (!vmstructs_static_word("CodeCache", "_heaps", &array) ||
	    (!offset_of("GrowableArrayBase", "_len", &length_at) &&
	     !offset_of("GenericGrowableArray", "_len", &length_at)) ||
	    !offset_of("GrowableArray<int>", "_data", &data_at) ||
	    !safe_read(array + length_at, &length, sizeof(length)) || length < 1 ||
	    length > (int32_t)CODE_HEAPS_MAX || !safe_read(array + data_at, &data, sizeof(data)))
		return false;
	for (int32_t i = 0; i < length; i++)
		if (!safe_read(data + (uint64_t)i * sizeof(heap), &heap, sizeof(heap)) ||
		    !read_heap(heap, &l->heaps[i]))
			return false;
	l->heap_count = (unsigned)length;
	return true;
}

static bool read_blobs(struct code_layout *l)
{
	uint32_t header_size;
	uint64_t block_bytes, blob_bytes;

	if (!vmstructs_type_size("HeapBlock", &block_bytes) ||
	    !vmstructs_type_size("CodeBlob", &blob_bytes) ||
	    !offset_of("HeapBlock::Header", "_used", &l->block_used) ||
	    !offset_of("CodeBlob", "_frame_size", &l->frame_size) ||
	    !offset_of("CodeBlob", "_frame_complete_offset", &l->frame_complete) ||
	    !offset_of("CodeBlob", "_header_size", &header_size) ||
	    !offset_of("CodeBlob", "_name", &l->name) ||
	    !offset_of("CodeBlob", "_size", &l->size) ||
	    !offset_of("CodeBlob", "_data_offset", &l->code_end) ||
	    !offset_of("nmethod", "_compile_id", &l->compile_id) ||
	    !offset_of("nmethod", "_state", &l->state) ||
	    (!offset_of("CompiledMethod", "_method", &l->method) &&
	     !offset_of("nmethod", "_method", &l->method)))
		return false;
	l->block_bytes = (uint32_t)block_bytes;
	l->blob_bytes = (uint32_t)blob_bytes;
	/* Both became 16 bits wide at the same time. */
	l->frame_complete_is_short = l->frame_complete == header_size + sizeof(int16_t);
	l->code_begin_is_offset = offset_of("CodeBlob", "_code_offset", &l->code_begin);
	return l->code_begin_is_offset || offset_of("CodeBlob", "_code_begin", &l->code_begin);
}

/* Where frames that are to be deoptimised return to, by release. */
static void read_deoptimised(struct code_layout *l)
{
	static const struct {
		const char *type, *field;
		bool is_offset;
	} handlers[] = {
	    {"CompiledMethod", "_deopt_handler_begin", false},
	    {"CompiledMethod", "_deopt_mh_handler_begin", false},
	    {"nmethod", "_deopt_handler_begin", false},
	    {"nmethod", "_deopt_mh_handler_begin", false},
	    {"nmethod", "_deopt_handler_offset", true},
	    {"nmethod", "_deopt_mh_handler_offset", true},
	    {"nmethod", "_deopt_handler_entry_offset", true},
	};

	l->deopt_count = 0;
	if (!offset_of("nmethod", "_orig_pc_offset", &l->original_pc))
		return;
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]) && l->deopt_count < 2; i++) {
		if (!offset_of(handlers[i].type, handlers[i].field, &l->deopt[l->deopt_count]))
			continue;
		l->deopt_is_offset = handlers[i].is_offset;
		l->deopt_count++;
	}
}

static bool read_interpreter(struct interpreter *in)
{
	uint32_t buffer, limit;
	uint64_t queue;
	int32_t bytes;

	if (!vmstructs_static_word("AbstractInterpreter", "_code", &queue) ||
	    !offset_of("StubQueue", "_stub_buffer", &buffer) ||
	    !offset_of("StubQueue", "_buffer_limit", &limit) ||
	    !safe_read(queue + buffer, &in->low, sizeof(in->low)) ||
	    !safe_read(queue + limit, &bytes, sizeof(bytes)) || bytes <= 0)
		return false;
	in->high = in->low + (uint32_t)bytes;
	return true;
}

#define PART_NAME_BYTES 64u

static bool add_part(struct interpreter *in, uint64_t part, uint32_t size, uint32_t description)
{
	char name[PART_NAME_BYTES] = "";
	uint64_t name_at;

	if (!safe_read(part + description, &name_at, sizeof(name_at)))
		return false;
	(void)safe_read_some(name_at, name, sizeof(name) - 1);
	return interpreter_add(in, name, size);
}

/* The interpreter's parts lie one behind the other. */
static bool read_parts(struct interpreter *in)
{
	uint32_t end_at, size_at, description;
	uint64_t queue, header;
	int32_t end, size;

	if (!vmstructs_static_word("AbstractInterpreter", "_code", &queue) ||
	    !offset_of("StubQueue", "_queue_end", &end_at) ||
	    !offset_of("InterpreterCodelet", "_size", &size_at) ||
	    !offset_of("InterpreterCodelet", "_description", &description) ||
	    !vmstructs_type_size("InterpreterCodelet", &header) ||
	    !safe_read(queue + end_at, &end, sizeof(end)))
		return false;
	in->header_bytes = (uint32_t)header;
	for (int32_t at = 0; at < end; at += size)
		if (!safe_read(in->low + (uint32_t)at + size_at, &size, sizeof(size)) ||
		    size <= 0 || !add_part(in, in->low + (uint32_t)at, (uint32_t)size, description))
			return false;
	return true;
}

static bool read_anchors(struct anchor_layout *l)
{
	return offset_of("JavaFrameAnchor", "_last_Java_sp", &l->sp) &&
	       offset_of("JavaFrameAnchor", "_last_Java_pc", &l->pc) &&
	       offset_of("JavaFrameAnchor", "_last_Java_fp", &l->fp);
}

static bool read_entries(struct frame_layout *l)
{
	return vmstructs_static_word("StubRoutines", "_call_stub_return_address",
				     &l->call_stub_return) &&
	       offset_of("JavaCallWrapper", "_anchor", &l->wrapper_anchor) &&
	       read_anchors(&l->anchor);
}

static bool read_thread(struct anchor_layout *l)
{
	struct java_threads threads;
	uint32_t anchor;

	if (!java_threads_facts(&threads) || !offset_of("JavaThread", "_anchor", &anchor) ||
	    !offset_of("JavaThread", "_thread_state", &l->state) ||
	    !vmstructs_int_constant("_thread_in_Java", &l->in_java))
		return false;
	l->anchor = anchor;
	l->own = threads.own;
	return true;
}

/* Up to JDK 21 it is the last table of an nmethod, or JVMCI's come behind it. */
static bool read_checks(struct scope_layout *l)
{
	return offset_of("nmethod", "_nul_chk_table_offset", &l->checks) &&
	       (l->apart ? offset_of("nmethod", "_handler_table_offset", &l->checks_end)
			 : offset_of("nmethod", "_nmethod_end_offset", &l->checks_end));
}

static uint32_t read_loop_traps(void)
{
	static const char *const names[] = {"Deoptimization::Reason_predicate",
					    "Deoptimization::Reason_profile_predicate",
					    "Deoptimization::Reason_loop_limit_check",
					    "Deoptimization::Reason_short_running_long_loop",
					    "Deoptimization::Reason_auto_vectorization_check"};
	uint32_t reasons = 0;
	int32_t reason;

	/* No release has all of them. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (vmstructs_int_constant(names[i], &reason) && reason >= 0 && reason < 32)
			reasons |= UINT32_C(1) << reason;
	return reasons;
}

/* JDK 11 to 21, and 25 on; between them it was a third way. */
static bool read_scope_parts(struct scope_layout *l)
{
	l->apart = offset_of("nmethod", "_immutable_data", &l->immutable_data);
	if (!offset_of("nmethod", "_scopes_pcs_offset", &l->pcs))
		return false;
	if (!l->apart)
		return offset_of("nmethod", "_dependencies_offset", &l->pcs_end) &&
		       offset_of("CompiledMethod", "_scopes_data_begin", &l->data) &&
		       offset_of("nmethod", "_metadata_offset", &l->metadata);
	l->pcs_end = 0;
	return offset_of("nmethod", "_scopes_data_offset", &l->data) &&
	       offset_of("nmethod", "_scopes_data_offset", &l->pcs_end) &&
	       offset_of("CodeBlob", "_mutable_data", &l->mutable_data) &&
	       offset_of("CodeBlob", "_mutable_data_size", &l->mutable_end) &&
	       offset_of("CodeBlob", "_relocation_size", &l->metadata);
}

/* ---------------------------------------------------------------- virtual threads */

static void find_enter_special(void *arg, uint64_t blob)
{
	struct frame_layout *l = arg;
	uint64_t method;

	if (code_heap_kind(&l->code, blob) == CODE_KIND_NATIVE &&
	    safe_read(blob + l->code.method, &method, sizeof(method)) &&
	    method_is(&l->method, method, "jdk/internal/vm/Continuation", "enterSpecial"))
		l->continuation.enter_special = blob;
}

static void read_continuations(struct frame_layout *l)
{
	l->continuation.return_pc = vmstructs_static("ContinuationEntry", "_return_pc");
	if (!l->continuation.return_pc)
		code_heap_each(&l->code, find_enter_special, l);
}

/* From JDK 20 on the bytes of a compressed number are never zero (JDK-8292758). */
#define RELEASE_WITHOUT_ZERO_BYTES 20

const char *code_facts_read(unsigned release, struct frame_layout *out)
{
	struct frame_layout l = {0};
	const char *missing = NULL;

	l.scopes.byte_base = release >= RELEASE_WITHOUT_ZERO_BYTES;
	l.scopes.loop_traps = read_loop_traps();
	l.scopes.known = read_scope_parts(&l.scopes);
	l.scopes.checks_known = l.scopes.known && read_checks(&l.scopes);
	if (release == 0)
		missing = "release";
	else if (!read_blobs(&l.code) || !read_heaps(&l.code))
		missing = "code heaps";
	else if (!read_interpreter(&l.interpreter) || !read_parts(&l.interpreter))
		missing = "interpreter";
	else if (!read_entries(&l))
		missing = "frames";
	else if (!l.scopes.known)
		missing = "debug information";
	else if (!read_thread(&l.anchor))
		missing = "threads";
	if (!missing)
		missing = method_facts_read(release, &l.method);
	if (!missing)
		missing = method_facts_check(&l.method);
	l.anchor.known = !missing;
	if (missing)
		l.code.heap_count = 0;
	else {
		code_heap_learn_names(&l.code);
		read_deoptimised(&l.code);
		read_continuations(&l);
	}
	*out = l;
	return missing;
}
