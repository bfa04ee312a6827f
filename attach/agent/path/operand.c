#include "attach/agent/path/operand.h"

uint64_t operand_register(const ucontext_t *uc, unsigned reg)
{
	return register_value(uc->uc_mcontext.gregs, (int)reg);
}

bool operand_memory(const struct machine_view *view, const ucontext_t *uc, uint64_t address,
		    void *to, unsigned size)
{
	struct machine m;

	machine_init(&m, view, (uint64_t)uc->uc_mcontext.gregs[REG_RIP], uc->uc_mcontext.gregs);
	return machine_read(&m, address, to, size);
}

bool operand_scalar(const struct machine_view *view, const struct plan_scalar *s,
		    const ucontext_t *uc, uint64_t *value)
{
	uint64_t address;

	*value = operand_register(uc, s->reg);
	if (!s->slot)
		return true;
	address = *value + (uint64_t)(int64_t)s->displacement;
	return address >= (uint64_t)uc->uc_mcontext.gregs[REG_RSP] && address < view->stack_high &&
	       view->stack_high - address >= s->bytes &&
	       operand_memory(view, uc, address, value, s->bytes);
}
