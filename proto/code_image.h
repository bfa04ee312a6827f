/*
 * The parts of a CodeImage (jxperf.proto): each of its arrays is one of these structs, as it lies
 * in memory; both ends run on one machine, and hellos tell whether they agree on the version.
 * Methods are told by their index there, texts by where they begin among them: each ends with a
 * zero, and 0 is "".
 *
 * Nobody vouches for any of it: profile/intake/code_intake.h checks what comes.
 */
#ifndef JXPERF_PROTO_CODE_IMAGE_H
#define JXPERF_PROTO_CODE_IMAGE_H

#include <stdint.h>

/* An inlined call, or the method itself. */
struct code_frame {
	uint32_t method; /* index of methods */
	int32_t bci;
};

/* The JVM's debug information says this of one place: behind a call, at an instruction that may
 * fault or poll. Ascending by offset. */
struct code_record {
	uint32_t offset;
	uint32_t first_frame; /* of frames, innermost first */
	uint32_t frame_count;
};

enum code_target {
	CODE_TARGET_OTHER,     /* not known: the JVM's run time, or through a register */
	CODE_TARGET_JAVA,      /* compiled code, or a stub that leads to it */
	CODE_TARGET_STUB,      /* a stub that works for Java code: copies, fills, barriers */
	CODE_TARGET_NO_RETURN, /* throws, or deoptimises */
};

/* A call out of the code, direct or not. Ascending by offset. */
struct code_call {
	uint32_t offset; /* of the instruction */
	uint32_t target; /* enum code_target */
	uint32_t method; /* of JAVA, where the call leads straight to its compiled code: index of
			  * methods + 1; or 0 */
};

/* An instruction that may fault where a reference is null: it goes on at continuation then.
 * Ascending by offset. */
struct code_null_check {
	uint32_t offset;
	uint32_t continuation;
};

/* A constant pool calls a field so, or a method, of which little is told. */
struct code_member {
	uint32_t class_name;  /* Java name with dots, arrays as long[] */
	uint32_t name;        /* of a method: where the JVM has code of its own for it, or it is a
			       * handle's; or "" */
	uint32_t descriptor;  /* as class files have it: "I", "Ljava/lang/Object;"; of a method
			       * without names of classes: "(IL;)[Z" */
	uint32_t declared_in; /* the class that declares it, where it is known and another one; of
			       * a method that has a name */
};

/* One bytecode that names something: it accesses a field, or invokes a method. */
struct code_reference {
	uint32_t bci;
	uint32_t member;       /* index of members */
	uint32_t first_target; /* of targets, indices of methods that an invoke may lead to */
	uint32_t target_count; /* at most LIMIT_CODE_TARGETS; 0: it is not known */
};

/* One that is in records, or that these may lead to. References of the methods follow each other,
 * each's ascending by bci. */
struct code_method {
	uint32_t name;           /* the agent's number; in the engine the window's method */
	uint32_t bytecode;       /* where its code begins in bytecodes */
	uint32_t bytecode_bytes; /* 0: not known */
	uint32_t first_reference;
	uint32_t reference_count;
	uint32_t descriptor; /* as class files have it, where it has arrays */
	uint8_t is_static;   /* told where it has a descriptor */
	uint8_t io;          /* input or output: the engine's (profile/intake/code_intake.h) */
	uint8_t unused[2];
};

#endif
