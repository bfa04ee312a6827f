# jxperf: one GNU Makefile, read top to bottom. `make V=1` shows the commands.
#
#   make            build/bin/jxperfd, build/bin/jxperfctl, build/lib/jxperf/ (agent bundle)
#   make demo       install what is missing, build, profile a real library, print the report
#   make check      install what is missing, build, run every test    (T=unit/frame for one)
#   make deps       install what the build and the tests need, from Debian packages
#   make asan tsan lint fuzz bench format install clean

SHELL	:= /bin/bash
B	?= build
CC	?= gcc
CLANG	?= clang
DESTDIR	?=
PREFIX	?= /usr/local
V	?= 0
Q	:= $(if $(filter 1,$(V)),,@)
say	 = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef $(WERROR)
CFLAGS	?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -I. -I$(B)/gen
ALL_CFLAGS = -std=gnu17 $(WARN) -fno-strict-aliasing -fstack-protector-strong $(CFLAGS) $(SANITIZE)
DEPFLAGS = -MMD -MP

JAVA_HOME ?= $(shell readlink -f "$$(command -v javac)" 2>/dev/null | sed 's:/bin/javac::')
JNI_CPPFLAGS = -isystem $(JAVA_HOME)/include -isystem $(JAVA_HOME)/include/linux

.PHONY: all demo check deps asan tsan lint fuzz bench format install clean
all: $(B)/bin/jxperfd $(B)/bin/jxperfctl $(B)/lib/jxperf/jxperf-attach $(B)/lib/jxperf/libjxperf-agent.so

# ---------------------------------------------------------------- sources
COMMON	:= $(wildcard common/*.c)
PROTO	:= $(wildcard proto/*.c)
ATTACH	:= $(filter-out attach/main.c,$(wildcard attach/*.c))
AGENT	:= $(wildcard attach/agent/*.c)
DAEMON	:= $(filter-out daemon/main.c,$(wildcard daemon/*.c))
CLIENT	:= $(filter-out client/main.c,$(wildcard client/*.c))

obj	 = $(patsubst %.c,$(B)/obj/%.o,$(1))
pic	 = $(patsubst %.c,$(B)/pic/%.o,$(1))
GEN_PB	:= $(B)/gen/proto/jxperf.pb-c.c
PB_O	:= $(B)/obj/gen/jxperf.pb-c.o
PB_PIC	:= $(B)/pic/gen/jxperf.pb-c.o

# ---------------------------------------------------------------- generated
$(GEN_PB) $(GEN_PB:.c=.h) &: proto/jxperf.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(B)/gen && protoc-c --c_out=$(B)/gen $<

# ---------------------------------------------------------------- objects
$(B)/obj/gen/%.o: $(B)/gen/proto/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu17 $(CFLAGS) $(SANITIZE) -c $< -o $@
$(B)/pic/gen/%.o: $(B)/gen/proto/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu17 $(CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@
$(B)/obj/%.o: %.c | $(GEN_PB)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(JNI_CPPFLAGS) $(ALL_CFLAGS) $(DEPFLAGS) -c $< -o $@
# The agent lives in somebody else's process: position independent, everything hidden, and never
# built with a sanitizer, whose run time the target does not have.
$(B)/pic/%.o: %.c | $(GEN_PB)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(JNI_CPPFLAGS) $(ALL_CFLAGS:$(SANITIZE)=) $(DEPFLAGS) \
		-fPIC -fvisibility=hidden -c $< -o $@

# ---------------------------------------------------------------- programs
$(B)/bin/jxperfd: $(call obj,daemon/main.c $(DAEMON) $(ATTACH) $(COMMON) $(PROTO)) $(PB_O)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -luv -lprotobuf-c -ljansson -lmicrohttpd -lm
$(B)/bin/jxperfctl: $(call obj,client/main.c $(CLIENT) $(COMMON) $(PROTO)) $(PB_O)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lprotobuf-c
$(B)/lib/jxperf/jxperf-attach: $(call obj,attach/main.c $(ATTACH) $(COMMON))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^

# The bundle is a directory that can be copied into a container: the agent and, beside it, the
# libraries it needs (run path $ORIGIN).
AGENT_OBJECTS := $(call pic,$(AGENT) $(COMMON) $(PROTO)) $(PB_PIC)
AGENT_LIBS    := libZydis.so.4.0 libprotobuf-c.so.1
$(B)/lib/jxperf/libjxperf-agent.so: $(AGENT_OBJECTS) attach/agent/agent.map
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-z,now -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=attach/agent/agent.map -o $@ $(AGENT_OBJECTS) -lZydis -lprotobuf-c -ldl -lpthread
	$(Q)for l in $(AGENT_LIBS); do \
		cp -L "$$(ldconfig -p | awk -v l=$$l '$$1 == l && /x86-64/ { print $$NF; exit }')" $(@D)/$$l; done

-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(B)
