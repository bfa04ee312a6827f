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
	free(image->array_types);
	free(image->null_checks);
	free(image->members);
	free(image->texts);
	free(image->references);
	free(image->targets);
	*image = (struct code_image){0};
}

size_t code_image_memory_bytes(const struct code_image *image)
{
	return image->size + image->method_count * sizeof(image->methods[0]) +
	       image->record_count * sizeof(image->records[0]) +
	       image->frame_count * sizeof(image->frames[0]) +
	       image->call_count * sizeof(image->calls[0]) + image->bytecode_bytes +
	       (image->array_types ? image->bytecode_bytes * sizeof(image->array_types[0]) : 0) +
	       image->null_check_count * sizeof(image->null_checks[0]) +
	       image->member_count * sizeof(image->members[0]) + image->text_bytes +
	       image->reference_count * sizeof(image->references[0]) +
	       image->target_count * sizeof(image->targets[0]);
}

const struct code_reference *code_image_reference(const struct code_image *image, uint32_t method,
						  uint32_t bci)
{
	const struct code_method *m = &image->methods[method];
	uint32_t low = m->first_reference, high = low + m->reference_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (image->references[middle].bci == bci)
			return &image->references[middle];
		if (image->references[middle].bci < bci)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *code_image_text(const struct code_image *image, uint32_t text)
{
	return image->texts && text < image->text_bytes ? image->texts + text : "";
}

const struct code_null_check *code_image_null_check(const struct code_image *image, uint32_t offset)
{
	size_t low = 0, high = image->null_check_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->null_checks[middle].offset == offset)
			return &image->null_checks[middle];
		if (image->null_checks[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
