#include "profile/intake/code_intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "proto/limits.h"

#define FRAMES_MAX 64u   /* of one record */
#define BCI_MAX    65535 /* JVMS, 4.7.3: code_length */

/* An image in the making. */
struct image_builder {
	const struct method_intake *methods; /* borrowed */
	struct code_image image;
	uint32_t *announced; /* by index of the image's methods */
	uint64_t dropped;
};

static void making_release(struct image_builder *k)
{
	code_image_release(&k->image);
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

/* Copies what comes as bytes: an array of items, no more than a limit. 0; -ENOMEM. */
static int copy_array(struct image_builder *k, const ProtobufCBinaryData *from, size_t item,
		      size_t limit, void *items, size_t *count)
{
	size_t all = from->len / item;
	void *copy;

	*count = all < limit ? all : limit;
	k->dropped += all - *count + (from->len % item != 0);
	copy = calloc(*count + 1, item);
	if (!copy)
		return -ENOMEM;
	if (*count > 0)
		memcpy(copy, from->data, *count * item);
	*(void **)items = copy;
	return 0;
}

/* Drops the items of an array that are not good. before: the last one that was, or NULL. */
static void keep_good(struct image_builder *k, void *items, size_t *count, size_t item,
		      bool (*is_good)(struct image_builder *k, void *one, const void *before))
{
	char *array = items, *kept = NULL;
	size_t good = 0;

	for (size_t i = 0; i < *count; i++) {
		if (!is_good(k, array + i * item, kept)) {
			k->dropped++;
			continue;
		}
		kept = array + good++ * item;
		memmove(kept, array + i * item, item);
	}
	*count = good;
}

static bool is_known(const struct code_image *image, uint32_t method)
{
	return method < image->method_count && image->methods[method].name != 0;
}

/* ---------------------------------------------------------------- methods, and what they name */

/* What begins elsewhere becomes "". */
static void check_text(struct image_builder *k, uint32_t *text)
{
	if (*text < k->image.text_bytes)
		return;
	k->dropped++;
	*text = 0;
}

static void check_members(struct image_builder *k)
{
	for (size_t i = 0; i < k->image.member_count; i++) {
		struct code_member *m = &k->image.members[i];

		check_text(k, &m->class_name);
		check_text(k, &m->name);
		check_text(k, &m->descriptor);
		check_text(k, &m->declared_in);
	}
}

/* One whose targets are not all known is kept, without them. */
static bool check_reference(struct image_builder *k, const struct code_method *method,
			    struct code_reference *r, const struct code_reference *before)
{
	struct code_image *image = &k->image;
	bool known = r->target_count <= LIMIT_CODE_TARGETS &&
		     r->first_target <= image->target_count &&
		     r->target_count <= image->target_count - r->first_target;

	for (uint32_t i = 0; known && i < r->target_count; i++)
		known = is_known(image, image->targets[r->first_target + i]);
	k->dropped += !known;
	if (!known)
		r->first_target = r->target_count = 0;
	return r->bci < method->bytecode_bytes && r->member < image->member_count &&
	       (!before || r->bci > before->bci);
}

/* Moves those that are good to where those of the methods before end. */
static void check_references(struct image_builder *k, struct code_method *method, size_t all,
			     size_t *kept)
{
	struct code_image *image = &k->image;
	uint32_t first = method->first_reference, count = method->reference_count;

	method->first_reference = (uint32_t)*kept;
	method->reference_count = 0;
	if (first < *kept || first > all || count > all - first) {
		k->dropped += count > 0;
		return;
	}
	for (uint32_t i = first; i < first + count; i++) {
		struct code_reference r = image->references[i];

		if (!check_reference(k, method, &r,
				     method->reference_count ? &image->references[*kept - 1]
							     : NULL)) {
			k->dropped++;
			continue;
		}
		image->references[(*kept)++] = r;
		method->reference_count++;
	}
}

static void check_bytecodes(struct image_builder *k, struct code_method *method)
{
	const struct code_image *image = &k->image;

	if (method->bytecode_bytes <= BCI_MAX && method->bytecode <= image->bytecode_bytes &&
	    method->bytecode_bytes <= image->bytecode_bytes - method->bytecode)
		return;
	k->dropped++;
	method->bytecode = method->bytecode_bytes = 0;
}

/* The number becomes the window's name: 0 of a method that was never announced. */
static void check_method(struct image_builder *k, uint32_t index)
{
	struct code_method *method = &k->image.methods[index];
	bool found = method_intake_find(k->methods, method->name, &k->announced[index]);

	k->dropped += !found;
	method->name = found ? method_intake_name(k->methods, k->announced[index]) : 0;
	method->io = found && is_io(k->methods, k->announced[index]);
	method->is_static = method->is_static != 0;
	check_text(k, &method->descriptor);
	check_bytecodes(k, method);
}

static int add_methods(struct image_builder *k, const Jxp__CodeImage *m)
{
	struct code_image *image = &k->image;
	size_t kept = 0;

	k->announced = calloc(image->method_count + 1, sizeof(*k->announced));
	if (!k->announced)
		return -ENOMEM;
	if (image->method_count == 0 || image->methods[0].name != m->method)
		return -EBADMSG;
	for (uint32_t i = 0; i < image->method_count; i++)
		check_method(k, i);
	if (!is_known(image, 0))
		return -EBADMSG;
	check_members(k);
	for (uint32_t i = 0; i < image->method_count; i++)
		check_references(k, &image->methods[i], image->reference_count, &kept);
	image->reference_count = kept;
	return 0;
}

/* ---------------------------------------------------------------- places */

/* A bci that is none of its method's becomes -1. */
static void check_frames(struct image_builder *k)
{
	struct code_image *image = &k->image;

	for (size_t i = 0; i < image->frame_count; i++) {
		struct code_frame *f = &image->frames[i];
		uint32_t size =
		    is_known(image, f->method) ? image->methods[f->method].bytecode_bytes : 0;

		if (f->bci < 0 || (uint32_t)f->bci >= (size ? size : BCI_MAX))
			f->bci = -1;
	}
}

static bool is_good_record(struct image_builder *k, void *one, const void *before)
{
	const struct code_image *image = &k->image;
	const struct code_record *r = one, *last = before;

	if (r->offset >= image->size || (last && r->offset <= last->offset) ||
	    r->frame_count == 0 || r->frame_count > FRAMES_MAX ||
	    r->first_frame > image->frame_count ||
	    r->frame_count > image->frame_count - r->first_frame)
		return false;
	for (uint32_t i = 0; i < r->frame_count; i++)
		if (!is_known(image, image->frames[r->first_frame + i].method))
			return false;
	return true;
}

/* One whose callee is not known is still a call. */
static bool is_good_call(struct image_builder *k, void *one, const void *before)
{
	struct code_call *call = one;
	const struct code_call *last = before;

	if (call->offset >= k->image.size || (last && call->offset <= last->offset))
		return false;
	if (call->target > CODE_TARGET_NO_RETURN)
		call->target = CODE_TARGET_OTHER;
	if (call->method && !is_known(&k->image, call->method - 1)) {
		k->dropped++;
		call->method = 0;
	}
	return true;
}

static bool is_good_null_check(struct image_builder *k, void *one, const void *before)
{
	const struct code_null_check *check = one, *last = before;

	return check->offset < k->image.size && check->continuation < k->image.size &&
	       (!last || check->offset > last->offset);
}

static int add_code(struct image_builder *k, const Jxp__CodeImage *m)
{
	struct code_image *image = &k->image;

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
	return 0;
}

static int add_arrays(struct image_builder *k, const Jxp__CodeImage *m)
{
	struct code_image *i = &k->image;
#define ARRAY(field, items, count, limit)                                 \
	{                                                                 \
		&m->field, sizeof(*i->items), limit, &i->items, &i->count \
	}
	const struct {
		const ProtobufCBinaryData *from;
		size_t item, limit;
		void *items;
		size_t *count;
	} arrays[] = {
	    ARRAY(methods, methods, method_count, LIMIT_CODE_METHODS),
	    ARRAY(records, records, record_count, LIMIT_CODE_RECORDS),
	    ARRAY(frames, frames, frame_count, LIMIT_CODE_FRAMES),
	    ARRAY(calls, calls, call_count, LIMIT_CODE_RECORDS),
	    ARRAY(null_checks, null_checks, null_check_count, LIMIT_CODE_RECORDS),
	    ARRAY(members, members, member_count, LIMIT_CODE_MEMBERS),
	    ARRAY(references, references, reference_count, LIMIT_CODE_REFERENCES),
	    ARRAY(targets, targets, target_count, LIMIT_CODE_REFERENCES * LIMIT_CODE_TARGETS),
	    ARRAY(bytecodes, bytecodes, bytecode_bytes, LIMIT_CODE_BYTECODES),
	    ARRAY(texts, texts, text_bytes, LIMIT_CODE_TEXT),
	};
#undef ARRAY
	int r = 0;

	for (size_t j = 0; r == 0 && j < sizeof(arrays) / sizeof(arrays[0]); j++)
		r = copy_array(k, arrays[j].from, arrays[j].item, arrays[j].limit, arrays[j].items,
			       arrays[j].count);
	if (r < 0)
		return r;
	/* The first text is "", and the last one ends. The copy has one byte more. */
	i->text_bytes += i->text_bytes == 0;
	i->texts[0] = i->texts[i->text_bytes - 1] = '\0';
	return 0;
}

int code_intake_image(const struct method_intake *methods, const Jxp__CodeImage *m,
		      struct code_image *out, uint32_t **announced, uint64_t *dropped)
{
	_cleanup_(making_release) struct image_builder k = {.methods = methods};
	struct code_image *i = &k.image;
	int r = add_code(&k, m);

	if (r == 0)
		r = add_arrays(&k, m);
	if (r == 0)
		r = add_methods(&k, m);
	if (r == 0) {
		check_frames(&k);
		keep_good(&k, i->records, &i->record_count, sizeof(*i->records), is_good_record);
		keep_good(&k, i->calls, &i->call_count, sizeof(*i->calls), is_good_call);
		keep_good(&k, i->null_checks, &i->null_check_count, sizeof(*i->null_checks),
			  is_good_null_check);
	}
	*dropped += r == -EBADMSG ? 0 : k.dropped;
	if (r < 0)
		return r;
	*out = k.image;
	*announced = TAKE_PTR(k.announced);
	k.image = (struct code_image){0};
	return 0;
}
