/*
 * Gives the kernel back what the calling thread has freed in its malloc arena.
 *
 * What a window's session thread needs for a moment is mostly the JVM's: a local reference and list
 * entries for each loaded class, lists of methods, what AttachCurrentThread sets up. glibc keeps it
 * in the thread's arena when it is freed, and once all arenas are made (8 for each processor) a new
 * thread shares another one each time, so a program would come to hold it as often as it has
 * arenas. What lies between blocks in use that are closer than some KiB stays, once an arena.
 * malloc_trim would end that, but walks through all arenas with their locks held, for as long as it
 * takes to give back what the application has freed, too.
 */
#ifndef JXPERF_AGENT_WINDOW_GIVE_BACK_H
#define JXPERF_AGENT_WINDOW_GIVE_BACK_H

/* Last thing that a thread does with malloc. Takes some microseconds for each 100 KiB; holds no
 * lock for longer than malloc and free do. */
void give_back_freed(void);

#endif
