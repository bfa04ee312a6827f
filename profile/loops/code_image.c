#include "profile/loops/code_image.h"

#include <stdlib.h>

#include "common/array.h"

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
	const struct code_reference *own = image->references + m->first_reference;
	size_t at = SEARCH_FIRST(i, m->reference_count, own[i].bci >= bci);

	return at < m->reference_count && own[at].bci == bci ? &own[at] : NULL;
}

const char *code_image_text(const struct code_image *image, uint32_t text)
{
	return image->texts && text < image->text_bytes ? image->texts + text : "";
}

const struct code_null_check *code_image_null_check(const struct code_image *image, uint32_t offset)
{
	const struct code_null_check *checks = image->null_checks;
	size_t at = SEARCH_FIRST(i, image->null_check_count, checks[i].offset >= offset);

	return at < image->null_check_count && checks[at].offset == offset ? &checks[at] : NULL;
}
