#include "daemon/intake/code_intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "proto/limits.h"

#define FRAMES_MAX 64u   /* of one record */
#define BCI_MAX    65535 /* JVMS, 4.7.3: code_length */

/* An image in the making. */
struct making {
	const struct method_intake *methods; /* borrowed */
	struct code_image image;
	struct agent_ids indices; /* agent's id -> index of the image's methods */
	uint32_t *announced;      /* by index */
	size_t method_capacity, announced_capacity, frame_capacity;
	size_t reference_capacity, target_capacity;
	size_t text_room; /* of the image's texts */
	uint64_t dropped;
};

static void making_release(struct making *k)
{
	code_image_release(&k->image);
	agent_ids_release(&k->indices);
	free(k->announced);
}

/* How names begin; "" for all. */
static const struct {
	const char *class_name;
	const char *name;
} io_methods[] = {
    {"java.io.FileInputStream", "read"},
    {"java.io.FileOutputStream", "write"},
    {"java.io.FileDescriptor", "sync"},
    {"java.io.RandomAccessFile", "read"},
    {"java.io.RandomAccessFile", "write"},
    {"java.io.Console", "read"},
    {"java.net.Socket", ""}, /* SocketInputStream, SocketOutputStream, ... */
    {"java.net.DatagramSocket", "receive"},
    {"java.net.DatagramSocket", "send"},
    {"java.nio.channels.", "read"}, /* FileChannel, SocketChannel, Channels, ... */
    {"java.nio.channels.", "write"},
    {"sun.nio.ch.", ""}, /* what implements them, and sockets since JDK 13 */
    {"sun.security.ssl.SSLSocketImpl", ""},
};

/* java.sql.Statement and those who implement it are named like it (PgPreparedStatement,
 * StatementImpl); what they do is all in these. */
static bool runs_statement(const char *class_name, const char *name)
{
	return strstr(class_name, "Statement") && strncmp(name, "execute", strlen("execute")) == 0;
}

bool code_intake_is_io(const char *class_name, const char *name)
{
	for (size_t i = 0; i < sizeof(io_methods) / sizeof(io_methods[0]); i++)
		if (strncmp(class_name, io_methods[i].class_name,
			    strlen(io_methods[i].class_name)) == 0 &&
		    strncmp(name, io_methods[i].name, strlen(io_methods[i].name)) == 0)
			return true;
	return runs_statement(class_name, name);
}

static bool is_io(const struct method_intake *methods, uint32_t position)
{
	const struct profile *p = &methods->result->profile;
	const struct cct_method *m = cct_method(&p->cct, method_intake_name(methods, position));

	return m && code_intake_is_io(strings_get(&p->strings, m->class_name),
				      strings_get(&p->strings, m->name));
}

/* 0; -ENOENT where the method is not known, or one too many; -ENOMEM. */
static int method_index(struct making *k, uint32_t id, uint32_t *index)
{
	struct code_image *image = &k->image;
	uint32_t position;
	int r;

	if (agent_ids_get(&k->indices, id, index))
		return 0;
	if (!method_intake_find(k->methods, id, &position) ||
	    image->method_count >= LIMIT_CODE_METHODS)
		return -ENOENT;
	r = array_reserve(&image->methods, &k->method_capacity, image->method_count + 1,
			  sizeof(*image->methods));
	if (r == 0)
		r = array_reserve(&k->announced, &k->announced_capacity, image->method_count + 1,
				  sizeof(*k->announced));
	if (r == 0)
		r = agent_ids_add(&k->indices, id, (uint32_t)image->method_count);
	if (r < 0)
		return r;
	image->methods[image->method_count] = (struct code_method){
	    .name = method_intake_name(k->methods, position), .io = is_io(k->methods, position)};
	k->announced[image->method_count] = position;
	*index = (uint32_t)image->method_count++;
	return 0;
}

/* Drops what a limit or an unknown id is the matter with. */
static int dropped_or_failed(struct making *k, int r)
{
	if (r == -ENOMEM)
		return r;
	k->dropped += r < 0;
	return 0;
}

/* ---------------------------------------------------------------- what bytecodes name */

static size_t text_bytes(const char *text)
{
	return text[0] ? strlen(text) + 1 : 0;
}

static size_t member_bytes(const Jxp__CodeImage__Member *m)
{
	return text_bytes(m->class_name) + text_bytes(m->name) + text_bytes(m->descriptor) +
	       text_bytes(m->declared_in);
}

/* There is room for it. */
static uint32_t add_text(struct code_image *image, const char *text)
{
	size_t bytes = text_bytes(text), at = image->text_bytes;

	if (bytes == 0)
		return 0;
	memcpy(image->texts + at, text, bytes);
	image->text_bytes += bytes;
	return (uint32_t)at;
}

/* One that there is no room for has no names: the others keep their places. */
static void add_member(struct making *k, const Jxp__CodeImage__Member *m)
{
	struct code_image *image = &k->image;
	struct code_member *member = &image->members[image->member_count++];

	if (image->text_bytes + member_bytes(m) > k->text_room) {
		k->dropped++;
		return;
	}
	member->class_name = add_text(image, m->class_name);
	member->name = add_text(image, m->name);
	member->descriptor = add_text(image, m->descriptor);
	member->declared_in = add_text(image, m->declared_in);
}

static int add_members(struct making *k, const Jxp__CodeImage *m)
{
	size_t count = m->n_members < LIMIT_CODE_MEMBERS ? m->n_members : LIMIT_CODE_MEMBERS;
	size_t room = 1; /* "" is the first. */

	k->dropped += m->n_members - count;
	for (size_t i = 0; i < m->n_bytecodes && room < LIMIT_CODE_TEXT; i++)
		room += text_bytes(m->bytecodes[i]->descriptor);
	for (size_t i = 0; i < count && room < LIMIT_CODE_TEXT; i++)
		room += member_bytes(m->members[i]);
	if (room > LIMIT_CODE_TEXT)
		room = LIMIT_CODE_TEXT;
	k->image.members = calloc(count + 1, sizeof(*k->image.members));
	k->image.texts = calloc(room, 1);
	if (!k->image.members || !k->image.texts)
		return -ENOMEM;
	k->image.text_bytes = 1;
	k->text_room = room;
	for (size_t i = 0; i < count; i++)
		add_member(k, m->members[i]);
	return 0;
}

/* Those that are not known are dropped, the reference stays. */
static int add_targets(struct making *k, const Jxp__CodeImage__Reference *m,
		       struct code_reference *reference)
{
	struct code_image *image = &k->image;
	size_t count = m->n_targets < LIMIT_CODE_TARGETS ? m->n_targets : LIMIT_CODE_TARGETS;
	int r = array_reserve(&image->targets, &k->target_capacity, image->target_count + count,
			      sizeof(*image->targets));

	k->dropped += m->n_targets - count;
	reference->first_target = (uint32_t)image->target_count;
	for (size_t i = 0; r == 0 && i < count; i++) {
		uint32_t index;
		int known = method_index(k, m->targets[i], &index);

		if (known == 0)
			image->targets[image->target_count++] = index;
		r = dropped_or_failed(k, known);
	}
	reference->target_count = (uint32_t)image->target_count - reference->first_target;
	return r;
}

/* Of the method whose references are the last ones. */
static int add_reference(struct making *k, uint32_t index, const Jxp__CodeImage__Reference *m)
{
	struct code_image *image = &k->image;
	struct code_method *method = &image->methods[index];
	struct code_reference reference = {.bci = (uint32_t)m->bci, .member = m->member};
	int r;

	if (m->bci < 0 || (uint32_t)m->bci >= method->bytecode_bytes ||
	    m->member >= image->member_count || image->reference_count == LIMIT_CODE_REFERENCES ||
	    (method->reference_count > 0 &&
	     image->references[image->reference_count - 1].bci >= reference.bci))
		return -EINVAL;
	r = array_reserve(&image->references, &k->reference_capacity, image->reference_count + 1,
			  sizeof(*image->references));
	if (r == 0)
		r = add_targets(k, m, &reference);
	if (r < 0)
		return r;
	image->references[image->reference_count++] = reference;
	image->methods[index].reference_count++; /* The array may have moved. */
	return 0;
}

static int add_references(struct making *k, uint32_t index, const Jxp__CodeImage__Bytecodes *b)
{
	int r = 0;

	k->image.methods[index].first_reference = (uint32_t)k->image.reference_count;
	for (size_t i = 0; r == 0 && i < b->n_references; i++)
		r = dropped_or_failed(k, add_reference(k, index, b->references[i]));
	return r;
}

/* ---------------------------------------------------------------- bytecodes */

static int add_bytecodes(struct making *k, const Jxp__CodeImage__Bytecodes *b)
{
	struct code_image *image = &k->image;
	struct code_method *method;
	uint32_t index;
	int r = method_index(k, b->method, &index);

	if (r < 0)
		return r;
	method = &image->methods[index];
	if (b->code.len == 0 || b->code.len > BCI_MAX || method->bytecode_bytes > 0 ||
	    image->bytecode_bytes + b->code.len > LIMIT_CODE_BYTECODES)
		return -EINVAL;
	method->bytecode = (uint32_t)image->bytecode_bytes;
	method->bytecode_bytes = (uint32_t)b->code.len;
	memcpy(image->bytecodes + image->bytecode_bytes, b->code.data, b->code.len);
	image->bytecode_bytes += b->code.len;
	method->is_static = b->is_static;
	if (image->text_bytes + text_bytes(b->descriptor) <= k->text_room)
		method->descriptor = add_text(image, b->descriptor);
	else
		k->dropped++;
	return add_references(k, index, b);
}

static int add_all_bytecodes(struct making *k, const Jxp__CodeImage *m)
{
	size_t size = 0;
	int r = 0;

	for (size_t i = 0; i < m->n_bytecodes && size < LIMIT_CODE_BYTECODES; i++)
		size += m->bytecodes[i]->code.len;
	k->image.bytecodes = malloc(size < LIMIT_CODE_BYTECODES ? size + 1 : LIMIT_CODE_BYTECODES);
	if (!k->image.bytecodes)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < m->n_bytecodes; i++)
		r = dropped_or_failed(k, add_bytecodes(k, m->bytecodes[i]));
	return r;
}

/* -1 where it is none of its method's. */
static int32_t checked_bci(const struct code_method *method, int32_t bci)
{
	int32_t end = method->bytecode_bytes ? (int32_t)method->bytecode_bytes : BCI_MAX;

	return bci >= 0 && bci < end ? bci : -1;
}

static int add_frames(struct making *k, const Jxp__CodeImage__Record *m, struct code_record *record)
{
	struct code_image *image = &k->image;
	int r = array_reserve(&image->frames, &k->frame_capacity, image->frame_count + m->n_frames,
			      sizeof(*image->frames));

	record->first_frame = (uint32_t)image->frame_count;
	record->frame_count = (uint32_t)m->n_frames;
	for (size_t i = 0; r == 0 && i < m->n_frames; i++) {
		struct code_frame *frame = &image->frames[image->frame_count + i];

		r = method_index(k, m->frames[i]->method, &frame->method);
		if (r == 0)
			frame->bci = checked_bci(&image->methods[frame->method], m->frames[i]->bci);
	}
	if (r == 0)
		image->frame_count += m->n_frames;
	return r;
}

static int add_record(struct making *k, const Jxp__CodeImage__Record *m)
{
	struct code_image *image = &k->image;
	struct code_record *record = &image->records[image->record_count];
	int r;

	if (m->offset >= image->size || m->n_frames == 0 || m->n_frames > FRAMES_MAX ||
	    (image->record_count > 0 && m->offset <= record[-1].offset))
		return -EINVAL;
	record->offset = m->offset;
	r = add_frames(k, m, record);
	if (r == 0)
		image->record_count++;
	return r;
}

static int add_records(struct making *k, const Jxp__CodeImage *m)
{
	size_t count = m->n_records < LIMIT_CODE_RECORDS ? m->n_records : LIMIT_CODE_RECORDS;
	int r = 0;

	k->dropped += m->n_records - count;
	k->image.records = calloc(count + 1, sizeof(*k->image.records));
	if (!k->image.records)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = dropped_or_failed(k, add_record(k, m->records[i]));
	return r;
}

/* One whose callee is not known is still a call. */
static int add_call(struct making *k, const Jxp__CodeImage__Call *m)
{
	struct code_image *image = &k->image;
	struct code_call *call = &image->calls[image->call_count];
	uint32_t index;
	int r = 0;

	if (m->offset >= image->size || (image->call_count > 0 && m->offset <= call[-1].offset))
		return -EINVAL;
	*call = (struct code_call){.offset = m->offset};
	if ((unsigned)m->target <= JXP__CODE_IMAGE__CALL__TARGET__NO_RETURN)
		call->target = m->target;
	if (m->method && (r = method_index(k, m->method, &index)) == 0)
		call->method = index + 1;
	image->call_count++;
	return r;
}

static int add_calls(struct making *k, const Jxp__CodeImage *m)
{
	size_t count = m->n_calls < LIMIT_CODE_RECORDS ? m->n_calls : LIMIT_CODE_RECORDS;
	int r = 0;

	k->dropped += m->n_calls - count;
	k->image.calls = calloc(count + 1, sizeof(*k->image.calls));
	if (!k->image.calls)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = dropped_or_failed(k, add_call(k, m->calls[i]));
	return r;
}

static int add_null_check(struct making *k, const Jxp__CodeImage__NullCheck *m)
{
	struct code_image *image = &k->image;
	struct code_null_check *check = &image->null_checks[image->null_check_count];

	if (m->offset >= image->size || m->continuation >= image->size ||
	    (image->null_check_count > 0 && m->offset <= check[-1].offset))
		return -EINVAL;
	*check = (struct code_null_check){m->offset, m->continuation};
	image->null_check_count++;
	return 0;
}

static int add_null_checks(struct making *k, const Jxp__CodeImage *m)
{
	size_t count =
	    m->n_null_checks < LIMIT_CODE_RECORDS ? m->n_null_checks : LIMIT_CODE_RECORDS;
	int r = 0;

	k->dropped += m->n_null_checks - count;
	k->image.null_checks = calloc(count + 1, sizeof(*k->image.null_checks));
	if (!k->image.null_checks)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = dropped_or_failed(k, add_null_check(k, m->null_checks[i]));
	return r;
}

static int add_code(struct making *k, const Jxp__CodeImage *m)
{
	struct code_image *image = &k->image;
	int r;

	if (m->bytes.len == 0 || m->bytes.len > LIMIT_CODE_BYTES)
		return -EBADMSG;
	image->code = m->code;
	image->start = m->start;
	image->loop_traps = m->loop_traps;
	image->size = (uint32_t)m->bytes.len;
	image->bytes = malloc(image->size);
	if (!image->bytes)
		return -ENOMEM;
	memcpy(image->bytes, m->bytes.data, image->size);
	r = method_index(k, m->method, &image->method);
	return r == -ENOENT ? -EBADMSG : r;
}

int code_intake_image(const struct method_intake *methods, const Jxp__CodeImage *m,
		      struct code_image *out, uint32_t **announced, uint64_t *dropped)
{
	_cleanup_(making_release) struct making k = {.methods = methods};
	int r = add_code(&k, m);

	if (r == 0)
		r = add_members(&k, m);
	if (r == 0)
		r = add_all_bytecodes(&k, m);
	if (r == 0)
		r = add_records(&k, m);
	if (r == 0)
		r = add_calls(&k, m);
	if (r == 0)
		r = add_null_checks(&k, m);
	*dropped += k.dropped;
	if (r < 0)
		return r;
	*out = k.image;
	*announced = TAKE_PTR(k.announced);
	k.image = (struct code_image){0};
	return 0;
}
