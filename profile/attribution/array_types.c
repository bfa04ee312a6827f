#include "profile/attribution/array_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/code/java_op.h"

/* So much is followed: variables from the first on, the stack from the top down. */
#define LOCALS_MAX 64u
#define STACK_MAX  32u

/* Longer methods, and such as do not come to rest, are left open. */
#define BYTES_MAX  8192u
#define PASSES_MAX 8u

#define DIMENSIONS_MAX 15u

/* These types are known at one place. Below depth nothing is known of the stack, not even how deep
 * it is. */
struct typed_frame {
	uint16_t locals[LOCALS_MAX];
	uint16_t stack[STACK_MAX]; /* the top is the last of depth */
	uint8_t depth;
	bool set;
};

struct following {
	const struct code_image *image;
	uint32_t method;
	const uint8_t *code;
	uint32_t size;
	uint16_t *types;            /* by bci */
	uint16_t *block_at;         /* by bci: index of blocks, + 1; 0: none begins there */
	struct typed_frame *blocks; /* where branches lead to, and behind what leads nowhere */
	uint32_t block_count;
	struct typed_frame now;
	uint32_t bci;
	bool again; /* something that was passed has changed */
};

/* ---------------------------------------------------------------- descriptors */

/* The type at *at, which goes behind it. *slots: that a value of it takes; 0: there is none. */
static uint16_t read_type(const char **at, unsigned *slots)
{
	size_t dimensions = strspn(*at, "[");
	char letter;

	*at += dimensions;
	letter = **at;
	if (letter == 'L')
		*at += strcspn(*at, ";");
	if (**at)
		++*at;
	if (!strchr("BCDFIJLSZ", letter) || !letter)
		*slots = 0;
	else
		*slots = dimensions == 0 && (letter == 'J' || letter == 'D') ? 2 : 1;
	return *slots && dimensions > 0 && dimensions <= DIMENSIONS_MAX
		   ? ARRAY_TYPE(dimensions, letter)
		   : ARRAY_TYPE_UNKNOWN;
}

bool array_type_may_be(uint16_t type, const char *class_name)
{
	static const char *const primitives[] = {"byte", "char", "double", "float",
						 "int",  "long", "short",  "boolean"};
	static const char letters[] = "BCDFIJSZ";
	size_t length = strlen(class_name), dimensions = 0;
	char letter = 'L';

	if (type == ARRAY_TYPE_UNKNOWN)
		return true;
	for (; length >= 2 && class_name[length - 1] == ']'; length -= 2)
		dimensions++;
	for (size_t i = 0; i < sizeof(letters) - 1; i++)
		if (strlen(primitives[i]) == length &&
		    memcmp(primitives[i], class_name, length) == 0)
			letter = letters[i];
	if ((uint8_t)type == 'L' && dimensions > type >> 8)
		return true;
	return dimensions == type >> 8 && letter == (char)type;
}

/* ---------------------------------------------------------------- stack and variables */

static void push(struct typed_frame *f, uint16_t type)
{
	if (f->depth == STACK_MAX) {
		memmove(f->stack, f->stack + 1, (STACK_MAX - 1) * sizeof(f->stack[0]));
		f->depth--;
	}
	f->stack[f->depth++] = type;
}

static void push_slots(struct typed_frame *f, unsigned slots)
{
	while (slots-- > 0)
		push(f, ARRAY_TYPE_UNKNOWN);
}

static void pop(struct typed_frame *f, unsigned slots)
{
	f->depth = f->depth > slots ? (uint8_t)(f->depth - slots) : 0;
}

/* Below the top by so many slots. */
static uint16_t peek(const struct typed_frame *f, unsigned below)
{
	return below < f->depth ? f->stack[f->depth - 1 - below] : ARRAY_TYPE_UNKNOWN;
}

static void set_local(struct typed_frame *f, unsigned local, uint16_t type, unsigned slots)
{
	for (unsigned i = local; i < local + slots && i < LOCALS_MAX; i++)
		f->locals[i] = type;
}

/* Into what is known where it leads to. */
static bool merge_types(uint16_t *to, const uint16_t *from, unsigned count)
{
	bool changed = false;

	for (unsigned i = 0; i < count; i++)
		if (to[i] != ARRAY_TYPE_UNKNOWN && to[i] != from[i]) {
			to[i] = ARRAY_TYPE_UNKNOWN;
			changed = true;
		}
	return changed;
}

static bool merge(struct typed_frame *to, const struct typed_frame *from)
{
	unsigned depth = from->depth < to->depth ? from->depth : to->depth;
	bool changed = depth < to->depth;

	if (!to->set) {
		*to = *from;
		to->set = true;
		return true;
	}
	memmove(to->stack, to->stack + (to->depth - depth), depth * sizeof(to->stack[0]));
	to->depth = (uint8_t)depth;
	changed |= merge_types(to->stack, from->stack + (from->depth - depth), depth);
	return merge_types(to->locals, from->locals, LOCALS_MAX) || changed;
}

/* ---------------------------------------------------------------- bytecodes */

/* What those that push nothing that is followed take and push, from 0x00 on, in slots. */
static const char effects[][3] = {
    "00", "01", "01", "01", "01", "01", "01", "01", "01", "02", "02", "01", "01", "01", "02", "02",
    "01", "01", "01", "01", "02", "01", "02", "01", "02", "01", "01", "01", "01", "01", "02", "02",
    "02", "02", "01", "01", "01", "01", "02", "02", "02", "02", "01", "01", "01", "01", "21", "22",
    "21", "22", "21", "21", "21", "21", "10", "20", "10", "20", "10", "10", "10", "10", "10", "20",
    "20", "20", "20", "10", "10", "10", "10", "20", "20", "20", "20", "10", "10", "10", "10", "30",
    "40", "30", "40", "30", "30", "30", "30", "10", "20", "12", "23", "34", "24", "35", "46", "22",
    "21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21", "42",
    "21", "42", "21", "42", "11", "22", "11", "22", "21", "32", "21", "32", "21", "32", "21", "42",
    "21", "42", "21", "42", "00", "12", "11", "12", "21", "21", "22", "11", "12", "12", "21", "22",
    "21", "11", "11", "11", "41", "21", "21", "41", "41", "10", "10", "10", "10", "10", "10", "20",
    "20", "20", "20", "20", "20", "20", "20", "00", "01", "00", "10", "10", "10", "20", "10", "20",
    "10", "00", "00", "00", "00", "00", "00", "00", "00", "00", "00", "01", "11", "11", "11", "10",
    "11", "11", "10", "10", "00", "00", "10", "10", "00", "01",
};

_Static_assert(sizeof(effects) / sizeof(effects[0]) == JAVA_OPS, "of all instructions");

/* Those that copy what lies on the stack: how many slots, and how far below themselves. */
static void copy_on_stack(struct typed_frame *f, uint8_t op)
{
	static const uint8_t counts[] = {1, 1, 1, 2, 2, 2}, belows[] = {0, 1, 2, 0, 1, 2};
	uint16_t moved[4];
	unsigned count = counts[op - JAVA_DUP], total = count + belows[op - JAVA_DUP];

	for (unsigned i = 0; i < total; i++)
		moved[i] = peek(f, i);
	pop(f, total);
	for (unsigned i = count; i-- > 0;)
		push(f, moved[i]);
	for (unsigned i = total; i-- > 0;)
		push(f, moved[i]);
}

static void swap(struct typed_frame *f)
{
	uint16_t top = peek(f, 0), below = peek(f, 1);

	pop(f, 2);
	push(f, top);
	push(f, below);
}

static void access_field(struct following *w, uint8_t op, const char *descriptor)
{
	unsigned slots;
	uint16_t type = read_type(&descriptor, &slots);

	if (slots == 0) {
		w->now.depth = 0;
	} else if (op == JAVA_PUTSTATIC || op == JAVA_PUTFIELD) {
		pop(&w->now, slots + (op == JAVA_PUTFIELD));
	} else {
		pop(&w->now, op == JAVA_GETFIELD);
		push(&w->now, type);
		push_slots(&w->now, slots - 1);
	}
}

static void call(struct following *w, uint8_t op, const char *descriptor)
{
	unsigned slots, taken = op != JAVA_INVOKESTATIC;
	uint16_t type;

	if (*descriptor++ != '(') {
		w->now.depth = 0;
		return;
	}
	while (*descriptor && *descriptor != ')') {
		(void)read_type(&descriptor, &slots);
		taken += slots;
	}
	pop(&w->now, taken);
	if (*descriptor++ != ')')
		return;
	type = read_type(&descriptor, &slots);
	if (slots > 0) {
		push(&w->now, type);
		push_slots(&w->now, slots - 1);
	}
}

/* What names something: of what is not told nothing is known, nor of the stack behind it. */
static void use_member(struct following *w, uint8_t op)
{
	const struct code_reference *r = code_image_reference(w->image, w->method, w->bci);
	const char *descriptor =
	    r ? code_image_text(w->image, w->image->members[r->member].descriptor) : "";

	if (op >= JAVA_INVOKEVIRTUAL)
		call(w, op, descriptor);
	else
		access_field(w, op, descriptor);
}

static void make_array(struct following *w, uint8_t op)
{
	/* JVMS, newarray: T_BOOLEAN to T_LONG. */
	static const char letters[] = "ZCFDBSIJ";
	uint8_t operand = w->code[w->bci + (op == JAVA_MULTIANEWARRAY ? 3 : 1)];

	pop(&w->now, op == JAVA_MULTIANEWARRAY ? operand : 1);
	if (op == JAVA_ANEWARRAY)
		push(&w->now, ARRAY_TYPE(1, 'L'));
	else if (op == JAVA_NEWARRAY && operand >= 4 && operand <= 11)
		push(&w->now, ARRAY_TYPE(1, letters[operand - 4]));
	else
		push(&w->now, ARRAY_TYPE_UNKNOWN);
}

/* The array below what else an access takes. */
static void note_access(struct following *w, uint8_t op)
{
	bool two = op == JAVA_LASTORE || op == JAVA_DASTORE;
	unsigned below = op <= JAVA_SALOAD ? 1 : 2 + two;

	if (op == JAVA_ARRAYLENGTH)
		below = 0;

	w->types[w->bci] = peek(&w->now, below);
}

static uint16_t element_of(uint16_t type)
{
	return type >> 8 > 1 ? (uint16_t)(type - ARRAY_TYPE(1, 0)) : ARRAY_TYPE_UNKNOWN;
}

/* Follows a use of a variable: by the operand, or by the instruction itself. What is not of a
 * reference makes it unknown. */
static void use_local(struct following *w, uint8_t op, unsigned local)
{
	uint16_t type = peek(&w->now, 0);

	if (op == JAVA_ALOAD) {
		push(&w->now, local < LOCALS_MAX ? w->now.locals[local] : ARRAY_TYPE_UNKNOWN);
		return;
	}
	pop(&w->now, (unsigned)(effects[op][0] - '0'));
	if (op == JAVA_ASTORE)
		set_local(&w->now, local, type, 1);
	else
		set_local(&w->now, local, ARRAY_TYPE_UNKNOWN, (unsigned)(effects[op][0] - '0'));
}

/* Is it one that use_local knows? Its long form, and the variable. */
static bool names_local(const struct following *w, uint8_t *op, unsigned *local)
{
	const uint8_t *code = w->code + w->bci;
	bool wide = *op == JAVA_WIDE;

	if (wide)
		*op = code[1];
	if (*op == JAVA_ALOAD || (*op >= JAVA_ISTORE && *op <= JAVA_ASTORE)) {
		*local = wide ? (unsigned)(code[2] << 8 | code[3]) : code[1];
		return true;
	}
	if (*op >= JAVA_ALOAD_0 && *op <= JAVA_ALOAD_3) {
		*local = *op - JAVA_ALOAD_0;
		*op = JAVA_ALOAD;
		return true;
	}
	if (*op >= JAVA_ISTORE_0 && *op <= JAVA_ASTORE_3) {
		*local = (*op - JAVA_ISTORE_0) % 4;
		*op = (uint8_t)(JAVA_ISTORE + (*op - JAVA_ISTORE_0) / 4);
		return true;
	}
	return false;
}

static bool accesses_array(uint8_t op)
{
	return java_op_loads_element(op) || java_op_stores_element(op) || op == JAVA_ARRAYLENGTH;
}

/* Follows what the instruction does to the stack and to variables. */
static void step(struct following *w)
{
	uint8_t op = w->code[w->bci];
	uint16_t top = peek(&w->now, 1);
	unsigned local;

	if (accesses_array(op))
		note_access(w, op);
	if (names_local(w, &op, &local)) {
		use_local(w, op, local);
	} else if (op >= JAVA_DUP && op < JAVA_SWAP) {
		copy_on_stack(&w->now, op);
	} else if (op == JAVA_SWAP) {
		swap(&w->now);
	} else if (op >= JAVA_GETSTATIC && op <= JAVA_INVOKEINTERFACE) {
		use_member(w, op);
	} else if (op == JAVA_INVOKEDYNAMIC) {
		w->now.depth = 0;
	} else if (op == JAVA_NEWARRAY || op == JAVA_ANEWARRAY || op == JAVA_MULTIANEWARRAY) {
		make_array(w, op);
	} else if (op != JAVA_CHECKCAST && op < JAVA_OPS) {
		/* A cast leaves what is known. */
		pop(&w->now, (unsigned)(effects[op][0] - '0'));
		push_slots(&w->now, (unsigned)(effects[op][1] - '0'));
	}
	if (op == JAVA_AALOAD && w->now.depth > 0)
		w->now.stack[w->now.depth - 1] = element_of(top);
}

/* ---------------------------------------------------------------- ways */

/* Does what is known here not hold for what follows? */
static bool ends(uint8_t op)
{
	return java_op_ends(op) || java_op_is_jsr(op);
}

static void each_target(struct following *w, void (*visit)(struct following *w, uint32_t target))
{
	uint32_t count = java_op_targets(w->code, w->size, w->bci);

	for (uint32_t i = 0; i < count; i++)
		visit(w, (uint32_t)java_op_target(w->code, w->bci, i));
}

static void begin_block(struct following *w, uint32_t target)
{
	if (target < w->size && w->block_at[target] == 0)
		w->block_at[target] = (uint16_t)++w->block_count;
}

static void lead_to(struct following *w, uint32_t target)
{
	if (target >= w->size)
		return;
	if (merge(&w->blocks[w->block_at[target] - 1], &w->now) && target <= w->bci)
		w->again = true;
}

/* False where an instruction does not fit. */
static bool find_blocks(struct following *w)
{
	uint32_t length;

	for (w->bci = 0; w->bci < w->size; w->bci += length) {
		length = java_op_length(w->code, w->size, w->bci);
		if (length == 0)
			return false;
		each_target(w, begin_block);
		if (ends(w->code[w->bci]))
			begin_block(w, w->bci + length);
	}
	return true;
}

/* Its parameters. */
static void enter(struct following *w)
{
	const struct code_method *m = &w->image->methods[w->method];
	const char *at = code_image_text(w->image, m->descriptor);
	unsigned local = m->is_static ? 0 : 1, slots;

	w->now = (struct typed_frame){.set = true};
	if (*at++ != '(')
		return;
	while (*at && *at != ')') {
		uint16_t type = read_type(&at, &slots);

		set_local(&w->now, local, type, slots);
		local += slots;
	}
}

static void pass(struct following *w)
{
	w->again = false;
	enter(w);
	for (w->bci = 0; w->bci < w->size; w->bci += java_op_length(w->code, w->size, w->bci)) {
		if (w->block_at[w->bci]) {
			struct typed_frame *block = &w->blocks[w->block_at[w->bci] - 1];

			if (w->now.set)
				(void)merge(block, &w->now);
			w->now = *block;
		}
		if (!w->now.set)
			continue;
		step(w);
		each_target(w, lead_to);
		if (ends(w->code[w->bci]))
			w->now.set = false;
	}
}

/* What nothing leads to is where exceptions are caught. */
static bool open_rest(struct following *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->block_count; i++)
		if (!w->blocks[i].set) {
			w->blocks[i] = (struct typed_frame){.set = true};
			any = true;
		}
	return any;
}

static void follow(struct following *w)
{
	unsigned passes = 0;

	do {
		pass(w);
		passes++;
	} while ((w->again || open_rest(w)) && passes < PASSES_MAX);
	if (w->again || passes == PASSES_MAX)
		memset(w->types, 0, w->size * sizeof(w->types[0]));
}

static bool has_arrays(const struct code_image *image, const struct code_method *m)
{
	const uint8_t *code = image->bytecodes + m->bytecode;
	uint32_t length;

	for (uint32_t bci = 0; bci < m->bytecode_bytes; bci += length) {
		length = java_op_length(code, m->bytecode_bytes, bci);
		if (length == 0)
			return false;
		if (accesses_array(code[bci]))
			return true;
	}
	return false;
}

static int make_method(struct code_image *image, uint32_t method, uint16_t *block_at)
{
	const struct code_method *m = &image->methods[method];
	struct following w = {.image = image,
			      .method = method,
			      .code = image->bytecodes + m->bytecode,
			      .size = m->bytecode_bytes,
			      .types = image->array_types + m->bytecode,
			      .block_at = block_at};

	memset(block_at, 0, m->bytecode_bytes * sizeof(*block_at));
	if (!find_blocks(&w))
		return 0;
	w.blocks = calloc(w.block_count + 1, sizeof(*w.blocks));
	if (!w.blocks)
		return -ENOMEM;
	follow(&w);
	free(w.blocks);
	return 0;
}

int array_types_make(struct code_image *image)
{
	uint16_t *block_at = malloc(BYTES_MAX * sizeof(*block_at));
	int r = 0;

	free(image->array_types);
	image->array_types = calloc(image->bytecode_bytes + 1, sizeof(*image->array_types));
	if (!block_at || !image->array_types)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < image->method_count; i++)
		if (image->methods[i].bytecode_bytes <= BYTES_MAX &&
		    has_arrays(image, &image->methods[i]))
			r = make_method(image, i, block_at);
	free(block_at);
	return r;
}

uint16_t array_type_at(const struct code_image *image, uint32_t method, uint32_t bci)
{
	const struct code_method *m = &image->methods[method];

	return image->array_types && bci < m->bytecode_bytes ? image->array_types[m->bytecode + bci]
							     : ARRAY_TYPE_UNKNOWN;
}
