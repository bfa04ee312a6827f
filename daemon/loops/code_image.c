#include "daemon/loops/code_image.h"

#include <stdlib.h>

void code_image_release(struct code_image *image)
{
	free(image->bytes);
	free(image->methods);
	free(image->records);
	free(image->frames);
	free(image->calls);
	free(image->bytecodes);
	*image = (struct code_image){0};
}

size_t code_image_memory_bytes(const struct code_image *image)
{
	return image->size + image->method_count * sizeof(image->methods[0]) +
	       image->record_count * sizeof(image->records[0]) +
	       image->frame_count * sizeof(image->frames[0]) +
	       image->call_count * sizeof(image->calls[0]) + image->bytecode_bytes;
}
