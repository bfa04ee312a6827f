#include "attach/agent/code/xstate.h"

#include <asm/sigcontext.h>
#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#define LEAF_XSAVE 0xdu

/* State components, by their bit in XCR0. */
#define COMPONENT_SSE    1u
#define COMPONENT_AVX    2u /* the upper halves of ymm */
#define COMPONENT_OPMASK 5u

/* Where the area's legacy part has them. */
#define XMM_OFFSET 160u
#define XMM_BYTES  16u
#define XMM_COUNT  16u

#define OPMASK_COUNT 8u

/* Offsets of the components in the area; 0 when the processor has none. A fact of the machine that
 * handlers need. */
static uint32_t avx_offset, opmask_offset;

static uint32_t component_offset(unsigned component)
{
	unsigned size, offset, flags, reserved;

	if (!__get_cpuid_count(LEAF_XSAVE, component, &size, &offset, &flags, &reserved))
		return 0;
	return size ? offset : 0;
}

void xstate_init(void)
{
	avx_offset = component_offset(COMPONENT_AVX);
	opmask_offset = component_offset(COMPONENT_OPMASK);
}

/* The saved bytes of a component, size at offset of the area. False when they are not there; a
 * component in its initial state is all zero, and its bytes need not be written. */
static bool copy(const ucontext_t *uc, unsigned component, uint32_t offset, uint32_t size, void *to)
{
	const uint8_t *area = (const uint8_t *)uc->uc_mcontext.fpregs;
	struct _fpx_sw_bytes software;
	struct _xstate_header {
		uint64_t in_use;
	} header;

	if (!area)
		return false;
	memcpy(&software, area + offsetof(struct _fpstate_64, sw_reserved), sizeof(software));
	if (software.magic1 != FP_XSTATE_MAGIC1 ||
	    !(software.xfeatures & UINT64_C(1) << component) ||
	    offset + size > software.xstate_size)
		return false;
	memcpy(&header, area + sizeof(struct _fpstate_64), sizeof(header));
	if (header.in_use & UINT64_C(1) << component)
		memcpy(to, area + offset, size);
	else
		memset(to, 0, size);
	return true;
}

bool xstate_opmask(const ucontext_t *uc, unsigned number, uint64_t *value)
{
	return opmask_offset && number < OPMASK_COUNT &&
	       copy(uc, COMPONENT_OPMASK, opmask_offset + number * (uint32_t)sizeof(*value),
		    sizeof(*value), value);
}

bool xstate_vector(const ucontext_t *uc, unsigned number, uint8_t value[XSTATE_VECTOR_BYTES])
{
	return avx_offset && number < XMM_COUNT &&
	       copy(uc, COMPONENT_SSE, XMM_OFFSET + number * XMM_BYTES, XMM_BYTES, value) &&
	       copy(uc, COMPONENT_AVX, avx_offset + number * XMM_BYTES, XMM_BYTES,
		    value + XMM_BYTES);
}
