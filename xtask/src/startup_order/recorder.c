/* Records which functions of a process run: `LD_PRELOAD` loads this, each function begins with a breakpoint, and the first
   call restores the byte that was there. STARTUP_ADDRESSES names a file with the addresses, 8 bytes each in ascending order;
   STARTUP_RECORD the file that gets a byte for each, 1 once the function has run. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

static const unsigned long *addresses;
static unsigned long count, base;
static unsigned char *original, *record;

static void on_breakpoint(int number, siginfo_t *info, void *context) {
    ucontext_t *interrupted = context;
    unsigned long at = interrupted->uc_mcontext.gregs[REG_RIP] - 1, low = 0, high = count;
    while (low < high) {
        unsigned long middle = (low + high) / 2;
        if (addresses[middle] < at - base)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || addresses[low] != at - base) {
        signal(SIGTRAP, SIG_DFL);
        return;
    }
    record[low] = 1;
    /* Other threads may do the same at the same time, with the same result. */
    *(volatile unsigned char *)at = original[low];
    interrupted->uc_mcontext.gregs[REG_RIP] = at;
    (void)number, (void)info;
}

static void *map(const char *path, int flags, unsigned long size, int protection) {
    int file = open(path, flags, 0600);
    if (file < 0 || ((flags & O_CREAT) && ftruncate(file, size)))
        abort();
    void *mapped = mmap(0, size, protection, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? (abort(), NULL) : mapped;
}

__attribute__((constructor)) static void begin(void) {
    const char *list = getenv("STARTUP_ADDRESSES"), *out = getenv("STARTUP_RECORD");
    struct stat of_list;
    char executable[4096] = "", line[8192];
    unsigned long text = 0, end = 0;
    if (!list || !out || stat(list, &of_list) || readlink("/proc/self/exe", executable, sizeof executable - 1) < 0)
        return;
    /* Programs that this one starts are not recorded. */
    unsetenv("LD_PRELOAD");
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int is_first = 1; maps && fgets(line, sizeof line, maps);) {
        unsigned long from, to, offset;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s %lx", &from, &to, rights, &offset) != 4 || !strstr(line, executable))
            continue;
        if (is_first)
            base = from - offset;
        is_first = 0;
        if (rights[2] == 'x')
            text = from, end = to;
    }
    if (maps)
        fclose(maps);
    count = of_list.st_size / sizeof *addresses;
    original = malloc(count);
    addresses = map(list, O_RDONLY, of_list.st_size, PROT_READ);
    record = map(out, O_RDWR | O_CREAT | O_TRUNC, count, PROT_READ | PROT_WRITE);
    struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!text || !original || sigaction(SIGTRAP, &action, NULL) ||
        mprotect((void *)text, end - text, PROT_READ | PROT_WRITE | PROT_EXEC))
        abort();
    for (unsigned long n = 0; n < count; n++) {
        unsigned char *function = (unsigned char *)(base + addresses[n]);
        original[n] = *function;
        *function = 0xCC;
    }
}
