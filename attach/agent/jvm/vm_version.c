#include "attach/agent/jvm/vm_version.h"

#include <stdint.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vmstructs.h"

#define PARTS "Abstract_VM_Version"

unsigned vm_release(void)
{
	uint64_t major;

	/* An int. */
	return vmstructs_static_word(PARTS, "_vm_major_version", &major) ? (uint32_t)major : 0;
}

/* The text at address, cut. */
static bool read_text(uint64_t address, char text[VM_TEXT_BYTES])
{
	text[safe_read_some(address, text, VM_TEXT_BYTES - 1)] = '\0';
	return text[0] != '\0';
}

static bool read_part(const char *field, char text[VM_TEXT_BYTES])
{
	uint64_t address;

	text[0] = '\0';
	return vmstructs_static_word(PARTS, field, &address) && read_text(address, text);
}

bool vm_version(char text[VM_TEXT_BYTES])
{
	return read_part("_s_vm_release", text);
}

/* "OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64 JRE (17.0.9+9), built on" and so on. */
bool vm_name(char text[VM_TEXT_BYTES])
{
	char *end;

	if (!read_part("_s_internal_vm_info_string", text))
		return false;
	end = strstr(text, " (");
	if (end)
		*end = '\0';
	return true;
}
