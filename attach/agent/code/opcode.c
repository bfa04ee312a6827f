#include "attach/agent/code/opcode.h"

#include <string.h>

/* What follows the opcode byte. */
enum {
	INVALID,
	PLAIN,   /* nothing */
	IMM8,    /* one byte */
	IMM16,   /* two */
	IMM32,   /* four; two with prefix 66 */
	NEAR32,  /* four, whatever the prefixes */
	IMM64,   /* mov reg, imm: eight with REX.W */
	OFFSET,  /* an address of eight bytes */
	ENTER,   /* two and one */
	PREFIX,  /* not an opcode */
	MODRM,   /* modrm and operand bytes */
	MODRM8,  /* ... and an immediate of one byte */
	MODRM32, /* ... of four, two with prefix 66 */
	GROUP8,  /* f6: an immediate for test alone */
	GROUP32, /* f7 */
};

/* Rows of 16 opcodes. */
#define X INVALID
#define P PLAIN
#define M MODRM
static const uint8_t one_byte[256] = {
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    X,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    X,
    PREFIX,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    X,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    X,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    PREFIX,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    PREFIX,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    PREFIX,
    X,
    M,
    M,
    M,
    M,
    IMM8,
    IMM32,
    PREFIX,
    X,
    /* 40: REX */
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    X,
    X,
    PREFIX,
    M,
    PREFIX,
    PREFIX,
    PREFIX,
    PREFIX,
    IMM32,
    MODRM32,
    IMM8,
    MODRM8,
    P,
    P,
    P,
    P,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    /* 80 */
    MODRM8,
    MODRM32,
    X,
    MODRM8,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    X,
    P,
    P,
    P,
    P,
    P,
    OFFSET,
    OFFSET,
    OFFSET,
    OFFSET,
    P,
    P,
    P,
    P,
    IMM8,
    IMM32,
    P,
    P,
    P,
    P,
    P,
    P,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM64,
    IMM64,
    IMM64,
    IMM64,
    IMM64,
    IMM64,
    IMM64,
    IMM64,
    /* c0 */
    MODRM8,
    MODRM8,
    IMM16,
    P,
    PREFIX,
    PREFIX,
    MODRM8,
    MODRM32,
    ENTER,
    P,
    IMM16,
    P,
    P,
    IMM8,
    X,
    P,
    M,
    M,
    M,
    M,
    X,
    X,
    X,
    P,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    IMM8,
    NEAR32,
    NEAR32,
    X,
    IMM8,
    P,
    P,
    P,
    P,
    PREFIX,
    P,
    PREFIX,
    PREFIX,
    P,
    P,
    GROUP8,
    GROUP32,
    P,
    P,
    P,
    P,
    P,
    P,
    M,
    M,
};
static const uint8_t two_byte[256] = {
    M,
    M,
    M,
    M,
    X,
    P,
    P,
    P,
    P,
    P,
    X,
    P,
    X,
    M,
    P,
    X,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    X,
    X,
    X,
    X,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    P,
    P,
    P,
    P,
    P,
    P,
    X,
    P,
    PREFIX,
    X,
    PREFIX,
    X,
    X,
    X,
    X,
    X,
    /* 40 */
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    MODRM8,
    MODRM8,
    MODRM8,
    MODRM8,
    M,
    M,
    M,
    P,
    M,
    M,
    X,
    X,
    M,
    M,
    M,
    M,
    /* 80 */
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    NEAR32,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    P,
    P,
    P,
    M,
    MODRM8,
    M,
    X,
    X,
    P,
    P,
    P,
    M,
    MODRM8,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    MODRM8,
    M,
    M,
    M,
    M,
    M,
    /* c0 */
    M,
    M,
    MODRM8,
    M,
    MODRM8,
    MODRM8,
    MODRM8,
    M,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    P,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
    M,
};
#undef X
#undef P
#undef M

struct cursor {
	const uint8_t *next;
	const uint8_t *end;
};

static int signed_byte(uint8_t byte)
{
	return byte < 0x80 ? byte : byte - 0x100;
}

static bool take(struct cursor *c, unsigned bytes, int64_t *value)
{
	int16_t two;
	int32_t four;

	if ((size_t)(c->end - c->next) < bytes)
		return false;
	switch (bytes) {
	case 0:
		return true;
	case 1:
		*value = signed_byte(*c->next);
		break;
	case 2:
		memcpy(&two, c->next, sizeof(two));
		*value = two;
		break;
	case 4:
		memcpy(&four, c->next, sizeof(four));
		*value = four;
		break;
	default:
		memcpy(value, c->next, sizeof(*value));
		break;
	}
	c->next += bytes;
	return true;
}

static bool take_byte(struct cursor *c, uint8_t *byte)
{
	if (c->next == c->end)
		return false;
	*byte = *c->next++;
	return true;
}

/* Legacy prefixes and REX; the byte behind them goes to *byte. A REX that is not the last prefix
 * does not count. */
static bool take_prefixes(struct cursor *c, struct opcode *o, uint8_t *byte)
{
	while (take_byte(c, byte)) {
		uint8_t b = *byte;

		if (b == 0x66)
			o->operand16 = true;
		else if (b == 0xf3)
			o->repeat = true;
		else if (b == 0xf2)
			o->repeat_not = true;
		else if (b == 0xf0 || b == 0x67 || b == 0x64 || b == 0x65)
			o->unusual = true;
		else if (b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26)
			continue; /* Ignored in 64-bit mode. */
		else if ((b & 0xf0) == 0x40 && c->next < c->end) {
			o->rex = b & 0x0f;
			o->has_rex = true;
			return take_byte(c, byte) && one_byte[*byte] != PREFIX
				   ? true
				   : *byte == 0x0f || *byte == 0xc4 || *byte == 0xc5 ||
					 *byte == 0x62;
		} else
			return true;
	}
	return false;
}

static void take_pp(struct opcode *o, uint8_t pp)
{
	o->operand16 = pp == 1;
	o->repeat = pp == 2;
	o->repeat_not = pp == 3;
}

/* VEX of two bytes: c5 RvvvvLpp; of three: c4 RXBmmmmm WvvvvLpp; bits R, X, B inverted. EVEX: 62
 * RXBR'0mmm Wvvvv1pp zL'LbV'aaa. */
static bool take_vex(struct cursor *c, struct opcode *o, uint8_t first)
{
	uint8_t a, b, z;

	if (o->has_rex || o->operand16 || o->repeat || o->repeat_not || !take_byte(c, &a))
		return false;
	o->vex = true;
	if (first == 0xc5) {
		o->rex = a & 0x80 ? 0 : OPCODE_REX_R;
		o->map = OPCODE_0F;
		take_pp(o, a & 3);
		return take_byte(c, &o->code);
	}
	if (!take_byte(c, &b))
		return false;
	o->rex = (uint8_t)(((~a >> 5) & 7) | (b & 0x80 ? OPCODE_REX_W : 0));
	o->map = first == 0x62 ? a & 7 : a & 0x1f;
	take_pp(o, b & 3);
	if (first == 0x62) {
		o->evex = true;
		if (!take_byte(c, &z))
			return false;
	}
	return o->map >= OPCODE_0F && o->map <= OPCODE_0F3A && take_byte(c, &o->code);
}

static bool take_opcode(struct cursor *c, struct opcode *o)
{
	uint8_t byte;

	if (!take_prefixes(c, o, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return take_vex(c, o, byte);
	o->code = byte;
	if (byte != 0x0f)
		return true;
	o->map = OPCODE_0F;
	if (!take_byte(c, &o->code))
		return false;
	if (o->code != 0x38 && o->code != 0x3a)
		return true;
	o->map = o->code == 0x38 ? OPCODE_0F38 : OPCODE_0F3A;
	return take_byte(c, &o->code);
}

static uint8_t layout_of(const struct opcode *o)
{
	switch (o->map) {
	case OPCODE_ONE_BYTE:
		return one_byte[o->code];
	case OPCODE_0F:
		return two_byte[o->code];
	case OPCODE_0F38:
		return MODRM;
	default:
		return MODRM8;
	}
}

/* The memory operand that modrm says there is. */
static bool take_memory(struct cursor *c, struct opcode *o)
{
	unsigned mod = o->modrm >> 6, rm = o->modrm & 7;
	int64_t displacement = 0;
	uint8_t sib;
	bool wide = mod == 2;

	o->has_memory = true;
	o->scale = 1;
	o->index = -1;
	o->base = (int8_t)opcode_rm(o);
	if (rm == 4) {
		unsigned index;

		if (!take_byte(c, &sib))
			return false;
		index = ((sib >> 3) & 7u) | (o->rex & OPCODE_REX_X ? 8u : 0);
		o->index = index == 4 ? -1 : (int8_t)index;
		o->scale = (uint8_t)(1u << (sib >> 6));
		o->base = (int8_t)((sib & 7u) | (o->rex & OPCODE_REX_B ? 8u : 0));
		if (mod == 0 && (sib & 7) == 5) {
			o->base = -1;
			wide = true;
		}
	} else if (mod == 0 && rm == 5) {
		o->rip_relative = true;
		o->base = -1;
		wide = true;
	}
	if (!take(c, wide ? 4 : mod == 1 ? 1 : 0, &displacement))
		return false;
	o->displacement = (int32_t)displacement;
	return true;
}

static bool take_modrm(struct cursor *c, struct opcode *o)
{
	if (!take_byte(c, &o->modrm))
		return false;
	o->has_modrm = true;
	/* Control and debug registers are never memory. */
	if (o->modrm >> 6 == 3 || (o->map == OPCODE_0F && !o->vex && (o->code & 0xfc) == 0x20))
		return true;
	return take_memory(c, o);
}

static unsigned immediate_bytes(const struct opcode *o, uint8_t layout)
{
	unsigned wide = o->operand16 && !(o->rex & OPCODE_REX_W) ? 2 : 4;

	switch (layout) {
	case IMM8:
	case MODRM8:
		return 1;
	case IMM16:
		return 2;
	case IMM32:
	case MODRM32:
		return wide;
	case NEAR32:
		return 4;
	case IMM64:
		return o->rex & OPCODE_REX_W ? 8 : wide;
	case OFFSET:
		return 8;
	case GROUP8:
		return opcode_group(o) < 2 ? 1 : 0;
	case GROUP32:
		return opcode_group(o) < 2 ? wide : 0;
	default:
		return 0;
	}
}

/* Left to the whole decoder: 8f as XOP, 32-bit absolute addresses, insertq, xabort and xbegin, and
 * what VEX has where 0f has jumps. */
static bool is_known(const struct opcode *o)
{
	if (o->map == OPCODE_ONE_BYTE) {
		if (o->code == 0x8f || (o->code & 0xfe) == 0xc6)
			return opcode_group(o) == 0;
		return (o->code & 0xfc) != 0xa0 || !o->unusual;
	}
	return o->map != OPCODE_0F || (o->vex ? (o->code & 0xf0) != 0x80 : o->code != 0x78);
}

static bool read_any(const uint8_t *bytes, size_t available, struct opcode *out)
{
	struct cursor c = {.next = bytes, .end = bytes + (available < 15 ? available : 15)};
	int64_t second;
	uint8_t layout;

	*out = (struct opcode){.base = -1, .index = -1};
	if (!take_opcode(&c, out))
		return false;
	layout = layout_of(out);
	if (layout == INVALID || layout == PREFIX)
		return false;
	if (layout >= MODRM && !take_modrm(&c, out))
		return false;
	if (!is_known(out) || !take(&c, immediate_bytes(out, layout), &out->immediate))
		return false;
	if (layout == ENTER && (!take(&c, 2, &out->immediate) || !take(&c, 1, &second)))
		return false;
	out->length = (uint8_t)(c.next - bytes);
	return true;
}

/* What most instructions of compiled code are made of: perhaps REX, an opcode of one byte or behind
 * 0f, modrm without an address in the code, an immediate of one or four bytes. */
static bool read_common(const uint8_t *bytes, struct opcode *o)
{
	const uint8_t *next = bytes;
	uint8_t layout;

	if ((*next & 0xf0) == 0x40) {
		o->rex = *next++ & 0x0f;
		o->has_rex = true;
	}
	o->code = *next++;
	if (o->code == 0x0f) {
		o->code = *next++;
		o->map = OPCODE_0F;
		layout = two_byte[o->code];
	} else {
		layout = one_byte[o->code];
	}
	switch (layout) {
	case PLAIN:
	case IMM8:
	case NEAR32:
		break;
	case IMM32:
		break;
	case MODRM:
	case MODRM8:
	case MODRM32: {
		uint8_t modrm = *next++;
		unsigned mod = modrm >> 6, rm = modrm & 7;

		o->modrm = modrm;
		o->has_modrm = true;
		if (mod == 3)
			break;
		if (mod == 0 && rm == 5)
			return false;
		o->has_memory = true;
		o->scale = 1;
		o->base = (int8_t)opcode_rm(o);
		if (rm == 4) {
			uint8_t sib = *next++;
			unsigned index = ((sib >> 3) & 7u) | (o->rex & OPCODE_REX_X ? 8u : 0);

			if (mod == 0 && (sib & 7) == 5)
				return false;
			o->index = index == 4 ? -1 : (int8_t)index;
			o->scale = (uint8_t)(1u << (sib >> 6));
			o->base = (int8_t)((sib & 7u) | (o->rex & OPCODE_REX_B ? 8u : 0));
		}
		if (mod == 1) {
			o->displacement = signed_byte(*next++);
		} else if (mod == 2) {
			memcpy(&o->displacement, next, sizeof(o->displacement));
			next += sizeof(o->displacement);
		}
		break;
	}
	default:
		return false;
	}
	if (layout == IMM8 || layout == MODRM8) {
		o->immediate = signed_byte(*next++);
	} else if (layout == NEAR32 || layout == IMM32 || layout == MODRM32) {
		int32_t immediate;

		memcpy(&immediate, next, sizeof(immediate));
		next += sizeof(immediate);
		o->immediate = immediate;
	}
	o->length = (uint8_t)(next - bytes);
	return is_known(o);
}

bool opcode_read(const uint8_t *bytes, size_t available, struct opcode *out)
{
	*out = (struct opcode){.base = -1, .index = -1};
	/* No instruction that is read here is longer than this. */
	if (available >= 16 && read_common(bytes, out))
		return true;
	return read_any(bytes, available, out);
}

static enum opcode_flow flow_of_group5(const struct opcode *o)
{
	switch (opcode_group(o)) {
	case 2:
		return OPCODE_INDIRECT_CALL;
	case 4:
		return OPCODE_INDIRECT_JUMP;
	case 3:
	case 5:
		return OPCODE_TRAP; /* Far ones. */
	default:
		return OPCODE_NEXT;
	}
}

enum opcode_flow opcode_flow(const struct opcode *o)
{
	if (o->map == OPCODE_0F && !o->vex) {
		if ((o->code & 0xf0) == 0x80)
			return OPCODE_BRANCH;
		return o->code == 0x0b ? OPCODE_TRAP : OPCODE_NEXT;
	}
	if (o->map != OPCODE_ONE_BYTE)
		return OPCODE_NEXT;
	if ((o->code & 0xf0) == 0x70 || (o->code & 0xfc) == 0xe0)
		return OPCODE_BRANCH;
	switch (o->code) {
	case 0xe9:
	case 0xeb:
		return OPCODE_JUMP;
	case 0xe8:
		return OPCODE_CALL;
	case 0xc2:
	case 0xc3:
		return OPCODE_RETURN;
	case 0xca: /* Far returns. */
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf4:
		return OPCODE_TRAP;
	case 0xff:
		return flow_of_group5(o);
	default:
		return OPCODE_NEXT;
	}
}

static enum opcode_use use_of_one_byte(const struct opcode *o)
{
	unsigned group = opcode_group(o);

	if (o->code < 0x40) {
		if ((o->code & 7) < 2)
			return o->code >= 0x38 ? OPCODE_LOADS : OPCODE_LOADS_AND_STORES;
		return OPCODE_LOADS;
	}
	switch (o->code) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x84:
	case 0x85:
	case 0x8a:
	case 0x8b:
		return OPCODE_LOADS;
	case 0x80:
	case 0x81:
	case 0x83:
		return group == 7 ? OPCODE_LOADS : OPCODE_LOADS_AND_STORES;
	case 0x86:
	case 0x87:
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return OPCODE_LOADS_AND_STORES;
	case 0x88:
	case 0x89:
	case 0xc6:
	case 0xc7:
		return OPCODE_STORES;
	case 0x8d:
		return OPCODE_USES_NOT;
	case 0xf6:
	case 0xf7:
		return group == 2 || group == 3 ? OPCODE_LOADS_AND_STORES : OPCODE_LOADS;
	case 0xfe:
		return group < 2 ? OPCODE_LOADS_AND_STORES : OPCODE_USE_UNKNOWN;
	case 0xff:
		return group < 2 ? OPCODE_LOADS_AND_STORES : OPCODE_USE_UNKNOWN;
	default:
		return OPCODE_USE_UNKNOWN;
	}
}

static enum opcode_use use_of_two_bytes(const struct opcode *o)
{
	switch (o->code) {
	case 0x10:
	case 0x28:
	case 0x6f:
	case 0xaf:
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		return OPCODE_LOADS;
	case 0x11:
	case 0x29:
	case 0x7f:
	case 0xd6:
		return OPCODE_STORES;
	case 0x18:
	case 0x1f:
		return OPCODE_USES_NOT;
	default:
		if (!o->vex && (o->code & 0xf0) == 0x40)
			return OPCODE_LOADS;
		return !o->vex && (o->code & 0xf0) == 0x90 ? OPCODE_STORES : OPCODE_USE_UNKNOWN;
	}
}

enum opcode_use opcode_use(const struct opcode *o)
{
	if (o->unusual || o->evex)
		return OPCODE_USE_UNKNOWN;
	if (o->map == OPCODE_ONE_BYTE)
		return use_of_one_byte(o);
	return o->map == OPCODE_0F ? use_of_two_bytes(o) : OPCODE_USE_UNKNOWN;
}
