#include "common/code/opcode.h"

#include <string.h>

/* What follows the opcode byte. */
enum {
	INVALID = '.',
	PLAIN = '-',   /* nothing */
	IMM8 = '1',    /* one byte */
	IMM16 = '2',   /* two */
	IMM32 = '4',   /* four; two with prefix 66 */
	NEAR32 = 'n',  /* four, whatever the prefixes */
	IMM64 = '8',   /* mov reg, imm: eight with REX.W */
	OFFSET = 'o',  /* an address of eight bytes */
	ENTER = 'e',   /* two and one */
	PREFIX = 'p',  /* not an opcode */
	MODRM = 'm',   /* modrm and operand bytes */
	MODRM8 = 'b',  /* ... and an immediate of one byte */
	MODRM32 = 'w', /* ... of four, two with prefix 66 */
	GROUP8 = 'g',  /* f6: an immediate for test alone */
	GROUP32 = 'G', /* f7 */
};

/* By the opcode byte, and by the one behind 0f: rows of 16, from 00, 10, 20 and so on. */
static const char one_byte[] = "mmmm14..mmmm14.p"
			       "mmmm14..mmmm14.."
			       "mmmm14p.mmmm14p."
			       "mmmm14p.mmmm14p."
			       "pppppppppppppppp"
			       "----------------"
			       "..pmpppp4w1b----"
			       "1111111111111111"
			       "bw.bmmmmmmmmmmmm"
			       "----------.-----"
			       "oooo----14------"
			       "1111111188888888"
			       "bb2-ppbwe-2--1.-"
			       "mmmm...-mmmmmmmm"
			       "11111111nn.1----"
			       "p-pp--gG------mm";
static const char two_byte[] = "mmmm.-----.-.m-."
			       "mmmmmmmmmmmmmmmm"
			       "mmmm....mmmmmmmm"
			       "------.-p.p....."
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "bbbbmmm-mm..mmmm"
			       "nnnnnnnnnnnnnnnn"
			       "mmmmmmmmmmmmmmmm"
			       "---mbm..---mbmmm"
			       "mmmmmmmmmmbmmmmm"
			       "mmbmbbbm--------"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm";

struct opcode_cursor {
	const uint8_t *next;
	const uint8_t *end;
};

static int signed_byte(uint8_t byte)
{
	return byte < 0x80 ? byte : byte - 0x100;
}

static bool take(struct opcode_cursor *c, unsigned bytes, int64_t *value)
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

static bool take_byte(struct opcode_cursor *c, uint8_t *byte)
{
	if (c->next == c->end)
		return false;
	*byte = *c->next++;
	return true;
}

/* Legacy prefixes and REX; the byte behind them goes to *byte. A REX that is not the last prefix
 * does not count. */
static bool take_prefixes(struct opcode_cursor *c, struct opcode *o, uint8_t *byte)
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
static bool take_vex(struct opcode_cursor *c, struct opcode *o, uint8_t first)
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

static bool take_opcode(struct opcode_cursor *c, struct opcode *o)
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

static char layout_of(const struct opcode *o)
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
static bool take_memory(struct opcode_cursor *c, struct opcode *o)
{
	unsigned mod = o->modrm >> 6, rm = o->modrm & 7;
	struct operand *m = &o->memory;
	uint8_t sib;
	bool wide = mod == 2;

	o->has_memory = true;
	m->scale = 1;
	m->base = (int8_t)opcode_rm(o);
	if (rm == 4) {
		unsigned index;

		if (!take_byte(c, &sib))
			return false;
		index = ((sib >> 3) & 7u) | (o->rex & OPCODE_REX_X ? 8u : 0);
		m->index = index == 4 ? -1 : (int8_t)index;
		m->scale = (uint8_t)(1u << (sib >> 6));
		m->base = (int8_t)((sib & 7u) | (o->rex & OPCODE_REX_B ? 8u : 0));
		if (mod == 0 && (sib & 7) == 5) {
			m->base = -1;
			wide = true;
		}
	} else if (mod == 0 && rm == 5) {
		m->rip_relative = true;
		m->base = -1;
		wide = true;
	}
	return take(c, wide ? 4 : mod == 1 ? 1 : 0, &m->displacement);
}

static bool take_modrm(struct opcode_cursor *c, struct opcode *o)
{
	if (!take_byte(c, &o->modrm))
		return false;
	o->has_modrm = true;
	/* Control and debug registers are never memory. */
	if (o->modrm >> 6 == 3 || (o->map == OPCODE_0F && !o->vex && (o->code & 0xfc) == 0x20))
		return true;
	return take_memory(c, o);
}

static bool has_modrm(char layout)
{
	switch (layout) {
	case MODRM:
	case MODRM8:
	case MODRM32:
	case GROUP8:
	case GROUP32:
		return true;
	default:
		return false;
	}
}

static unsigned immediate_bytes(const struct opcode *o, char layout)
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

bool opcode_read(const uint8_t *bytes, size_t available, struct opcode *out)
{
	struct opcode_cursor c = {.next = bytes, .end = bytes + (available < 15 ? available : 15)};
	int64_t second;
	char layout;

	*out = (struct opcode){.memory = OPERAND_NONE};
	if (!take_opcode(&c, out))
		return false;
	layout = layout_of(out);
	if (layout == INVALID || layout == PREFIX)
		return false;
	if (has_modrm(layout) && !take_modrm(&c, out))
		return false;
	if (!is_known(out) || !take(&c, immediate_bytes(out, layout), &out->immediate))
		return false;
	if (layout == ENTER && (!take(&c, 2, &out->immediate) || !take(&c, 1, &second)))
		return false;
	out->length = (uint8_t)(c.next - bytes);
	return true;
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
