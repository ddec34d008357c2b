// A stand-in for AMD's HIP runtime, without a GPU: it records every call, keeps "device" memory in the host's heap,
// copies at once, and launches nothing. It says what was used wrongly: memory beyond its end, things of no more use,
// images that did not stay. Any call can be made to fail. `double_...` are for the tests.
// With OLD it is the runtime of HIP 5: another structure of properties, and no hipStreamGetDevice.
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, NOT_FOUND = 500 };
enum { MOST_OBJECTS = 1 << 16, MOST_LINES = 1 << 16, LINE = 200, KEPT = 64 };

// What was made: d(evice memory), h(ost memory), s(tream), e(vent), m(odule), f(unction of a module).
struct object {
    char kind;
    int live, device;
    char *at;
    size_t bytes;
    unsigned flags;
    int records;
    // A module has its image here, and how it began; a function has its module in `flags`.
    const char *image;
    char kept[KEPT];
};

static struct object objects[MOST_OBJECTS];
static int made;
static char lines[MOST_LINES][LINE];
static int calls, fails_at, fails_with, misuses;
static const char *fails_in;
static int init_answer, devices = 2, version = 60443483, lanes = 64;
static char chip[256] = "gfx90a:sramecc+:xnack-";
static char misuse[2 * LINE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current, capture_mode;

static void wrong(const char *what) {
    if (misuses++ == 0) snprintf(misuse, sizeof misuse, "%s in call %d: %s", what, calls, calls ? lines[calls - 1] : "");
}

// Every call begins here: it is recorded, and may be one that fails.
static int begin(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (calls < MOST_LINES) vsnprintf(lines[calls], LINE, format, arguments);
    va_end(arguments);
    calls++;
    if (fails_in && calls <= MOST_LINES && !strncmp(lines[calls - 1], fails_in, strlen(fails_in)))
        fails_in = NULL, fails_at = calls;
    return calls == fails_at ? fails_with : SUCCESS;
}

static void *make(char kind, size_t bytes) {
    struct object *object = &objects[made++];
    if (made > MOST_OBJECTS) abort();
    object->kind = kind, object->live = 1, object->device = current, object->records = 0;
    object->bytes = bytes;
    object->at = kind == 'd' || kind == 'h' ? malloc(bytes) : (char *)object;
    // Neither is zero in the real one.
    if (kind == 'd' || kind == 'h') memset(object->at, 0xaa, bytes);
    return object->at;
}

// The live object of this kind that an address is in.
static struct object *find(char kind, const void *address) {
    for (int k = made - 1; k >= 0; k--) {
        struct object *object = &objects[k];
        const char *at = address;
        size_t room = object->bytes ? object->bytes : 1;
        if (object->live && object->kind == kind && at >= object->at && at < object->at + room) return object;
    }
    return NULL;
}

// The name of what an address is in: kind, number and distance; numbers count what was made.
static const char *name(char kind, const void *address) {
    static __thread char names[4][32];
    static __thread int next;
    char *text = names[next++ % 4];
    struct object *object = find(kind, address);
    if (!object) snprintf(text, 32, address ? "?%c" : "0", kind);
    else if ((char *)address == object->at) snprintf(text, 32, "%c%d", kind, (int)(object - objects));
    else snprintf(text, 32, "%c%d+%zu", kind, (int)(object - objects), (size_t)((char *)address - object->at));
    return text;
}

static int has(char kind, const void *address, size_t bytes) {
    struct object *object = find(kind, address);
    if (object && (char *)address + bytes <= object->at + object->bytes && (kind == 'h' || object->device == current))
        return 1;
    wrong(kind == 'd' ? "no device memory of the current device" : "no page-locked memory");
    return 0;
}

static struct object *live(char kind, const void *handle) {
    struct object *object = find(kind, handle);
    if (!object) wrong("a handle of nothing");
    else if (object->device != current) wrong("a handle of another device");
    return object;
}

// What is taken away is gone even if the call says that it failed, as after a fault of work before it.
static void take(char kind, const void *handle) {
    struct object *object = find(kind, handle);
    if (!object) {
        wrong("nothing to take away");
        return;
    }
    object->live = 0;
    if (kind == 'd' || kind == 'h') free(object->at);
}

#define API __attribute__((visibility("default")))
#define IN pthread_mutex_lock(&lock)
#define OUT(answer) do { int given = (answer); pthread_mutex_unlock(&lock); return given; } while (0)
#define TRY(...) do { int failed = begin(__VA_ARGS__); if (failed) OUT(failed); } while (0)

API int hipInit(unsigned flags) { IN; TRY("hipInit %u", flags); OUT(init_answer); }
API int hipRuntimeGetVersion(int *to) { IN; TRY("hipRuntimeGetVersion"); *to = version; OUT(SUCCESS); }
API int hipGetDeviceCount(int *to) {
    IN;
    TRY("hipGetDeviceCount");
    *to = devices;
    OUT(devices > 0 ? SUCCESS : NO_DEVICE);
}
API const char *hipGetErrorName(int code) { return code == NO_DEVICE ? "hipErrorNoDevice" : "hipErrorDouble"; }
API const char *hipGetErrorString(int code) {
    return code == NO_DEVICE ? "no ROCm-capable device is detected" : "hipErrorDouble";
}
API int hipGetDevice(int *to) { IN; TRY("hipGetDevice"); *to = current; OUT(SUCCESS); }
API int hipSetDevice(int device) {
    IN;
    TRY("hipSetDevice %d", device);
    if (device < 0 || device >= devices) OUT(INVALID_VALUE);
    current = device;
    OUT(SUCCESS);
}
API int hipDeviceReset(void) {
    IN;
    TRY("hipDeviceReset of %d", current);
    for (int k = 0; k < made; k++)
        if (objects[k].live && objects[k].device == current) take(objects[k].kind, objects[k].at);
    OUT(SUCCESS);
}
API int hipDeviceGetName(char *to, int room, int device) {
    IN;
    TRY("hipDeviceGetName room %d of %d", room, device);
    snprintf(to, room, "Double %d", device);
    OUT(SUCCESS);
}
API int hipDeviceGetAttribute(int *to, int which, int device) {
    IN;
    TRY("hipDeviceGetAttribute %d of %d", which, device);
    if (which != 63 && which != 87) OUT(INVALID_VALUE);
    *to = which == 63 ? 104 : lanes;
    OUT(SUCCESS);
}
API int hipDeviceTotalMem(size_t *to, int device) {
    IN;
    TRY("hipDeviceTotalMem of %d", device);
    *to = (size_t)64 << 30;
    OUT(SUCCESS);
}
static int properties(char *to, size_t bytes, size_t at) {
    memset(to, 'x', bytes);
    strcpy(to + at, chip);
    return SUCCESS;
}
#ifdef OLD
API int hipGetDeviceProperties(char *to, int device) {
    IN;
    TRY("hipGetDeviceProperties of %d", device);
    OUT(properties(to, 792, 396));
}
#else
API int hipGetDevicePropertiesR0600(char *to, int device) {
    IN;
    TRY("hipGetDevicePropertiesR0600 of %d", device);
    OUT(properties(to, 1472, 1160));
}
// What programs compiled with HIP 5 find.
API int hipGetDeviceProperties(char *to, int device) {
    (void)to, (void)device;
    abort();
}
API int hipStreamGetDevice(void *stream, int *to) {
    IN;
    TRY("hipStreamGetDevice %s", name('s', stream));
    struct object *object = find('s', stream);
    if (!object) OUT(INVALID_VALUE);
    *to = object->device;
    OUT(SUCCESS);
}
#endif
API int hipMemGetInfo(size_t *unused, size_t *total) {
    IN;
    TRY("hipMemGetInfo");
    *unused = (size_t)60 << 30, *total = (size_t)64 << 30;
    OUT(SUCCESS);
}
API int hipPointerGetAttribute(int *to, int which, void *address) {
    IN;
    TRY("hipPointerGetAttribute %d %s", which, name('d', address));
    struct object *object = find('d', address);
    if (which != 9 || !object) OUT(INVALID_VALUE);
    *to = object->device;
    OUT(SUCCESS);
}
API int hipModuleLoadData(void **to, const char *image) {
    IN;
    TRY("hipModuleLoadData at %zu %s", (size_t)((uintptr_t)image % 8), memcmp(image, "\177ELF", 4) ? image : "ELF");
    struct object *module = *to = make('m', 1);
    module->image = image;
    memcpy(module->kept, image, KEPT);
    OUT(SUCCESS);
}
static void stays(struct object *module) {
    if (module && memcmp(module->kept, module->image, KEPT)) wrong("the image of a module did not stay");
}
API int hipModuleUnload(void *module) {
    IN;
    int failed = begin("hipModuleUnload %s", name('m', module));
    struct object *object = live('m', module);
    stays(object);
    for (int k = 0; k < made; k++)
        if (objects[k].kind == 'f' && objects[k].flags == (unsigned)(object - objects)) objects[k].live = 0;
    take('m', module);
    OUT(failed);
}
API int hipModuleGetFunction(void **to, void *module, const char *symbol) {
    IN;
    TRY("hipModuleGetFunction %s %s", name('m', module), symbol);
    struct object *object = live('m', module);
    stays(object);
    if (!object || strncmp(symbol, "dtw_", 4)) OUT(NOT_FOUND);
    *to = make('f', 1);
    ((struct object *)*to)->flags = (unsigned)(object - objects);
    OUT(SUCCESS);
}
API int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *to, void *function, int threads, size_t shared) {
    IN;
    TRY("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor %s %d %zu", name('f', function), threads, shared);
    live('f', function);
    *to = 4;
    OUT(SUCCESS);
}
API int hipModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                              unsigned threads_z, unsigned shared, void *stream, void **params, void **extra) {
    IN;
    TRY("hipModuleLaunchKernel %s %u,%u,%u %u,%u,%u shared %u on %s params %02x%02x extra %d", name('f', function), x, y,
        z, threads, threads_y, threads_z, shared, name('s', stream), ((unsigned char *)params[0])[0],
        ((unsigned char *)params[0])[1], extra != NULL);
    live('f', function);
    if (stream) live('s', stream);
    OUT(SUCCESS);
}
API int hipStreamCreateWithFlags(void **to, unsigned flags) {
    IN;
    TRY("hipStreamCreateWithFlags %u", flags);
    *to = make('s', 1);
    OUT(SUCCESS);
}
API int hipStreamDestroy(void *stream) {
    IN;
    int failed = begin("hipStreamDestroy %s", name('s', stream));
    live('s', stream);
    take('s', stream);
    OUT(failed);
}
API int hipStreamSynchronize(void *stream) {
    IN;
    TRY("hipStreamSynchronize %s", name('s', stream));
    live('s', stream);
    OUT(SUCCESS);
}
API int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
    IN;
    TRY("hipStreamWaitEvent %s %s %u", name('s', stream), name('e', event), flags);
    live('s', stream);
    live('e', event);
    OUT(SUCCESS);
}
API int hipStreamIsCapturing(void *stream, int *to) {
    IN;
    TRY("hipStreamIsCapturing %s", name('s', stream));
    *to = 0;
    OUT(SUCCESS);
}
API int hipThreadExchangeStreamCaptureMode(int *mode) {
    IN;
    TRY("hipThreadExchangeStreamCaptureMode %d", *mode);
    int before = capture_mode;
    capture_mode = *mode, *mode = before;
    OUT(SUCCESS);
}
API int hipEventCreateWithFlags(void **to, unsigned flags) {
    IN;
    TRY("hipEventCreateWithFlags %u", flags);
    *to = make('e', 1);
    ((struct object *)*to)->flags = flags;
    OUT(SUCCESS);
}
API int hipEventDestroy(void *event) {
    IN;
    int failed = begin("hipEventDestroy %s", name('e', event));
    live('e', event);
    take('e', event);
    OUT(failed);
}
API int hipEventRecord(void *event, void *stream) {
    IN;
    TRY("hipEventRecord %s on %s", name('e', event), name('s', stream));
    struct object *object = live('e', event);
    if (stream) live('s', stream);
    if (object) object->records++;
    OUT(SUCCESS);
}
API int hipEventSynchronize(void *event) {
    IN;
    TRY("hipEventSynchronize %s", name('e', event));
    live('e', event);
    OUT(SUCCESS);
}
API int hipEventElapsedTime(float *to, void *from, void *until) {
    IN;
    TRY("hipEventElapsedTime %s %s", name('e', from), name('e', until));
    struct object *ends[2] = {live('e', from), live('e', until)};
    for (int k = 0; k < 2; k++)
        if (!ends[k] || ends[k]->flags || !ends[k]->records) wrong("an event without a time");
    *to = 1500.0f;
    OUT(SUCCESS);
}
API int hipMalloc(void **to, size_t bytes) {
    IN;
    TRY("hipMalloc %zu", bytes);
    *to = make('d', bytes);
    OUT(SUCCESS);
}
API int hipFree(void *memory) {
    IN;
    int failed = begin("hipFree %s", name('d', memory));
    take('d', memory);
    OUT(failed);
}
API int hipHostMalloc(void **to, size_t bytes, unsigned flags) {
    IN;
    TRY("hipHostMalloc %zu %u", bytes, flags);
    *to = make('h', bytes);
    OUT(SUCCESS);
}
API int hipHostFree(void *memory) {
    IN;
    int failed = begin("hipHostFree %s", name('h', memory));
    take('h', memory);
    OUT(failed);
}
API int hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, void *stream) {
    IN;
    TRY("hipMemcpyHtoDAsync %s %s %zu on %s", name('d', to), name('h', from), bytes, name('s', stream));
    if (has('d', to, bytes) & has('h', from, bytes)) memcpy(to, from, bytes);
    OUT(SUCCESS);
}
API int hipMemcpyDtoHAsync(void *to, const void *from, size_t bytes, void *stream) {
    IN;
    TRY("hipMemcpyDtoHAsync %s %s %zu on %s", name('h', to), name('d', from), bytes, name('s', stream));
    if (has('h', to, bytes) & has('d', from, bytes)) memcpy(to, from, bytes);
    OUT(SUCCESS);
}
API int hipMemcpyDtoDAsync(void *to, const void *from, size_t bytes, void *stream) {
    IN;
    TRY("hipMemcpyDtoDAsync %s %s %zu on %s", name('d', to), name('d', from), bytes, name('s', stream));
    if (has('d', to, bytes) & has('d', from, bytes)) memmove(to, from, bytes);
    OUT(SUCCESS);
}
API int hipMemsetD8Async(void *to, unsigned char value, size_t bytes, void *stream) {
    IN;
    TRY("hipMemsetD8Async %s %u %zu on %s", name('d', to), value, bytes, name('s', stream));
    if (has('d', to, bytes)) memset(to, value, bytes);
    OUT(SUCCESS);
}

// For the tests: what the runtime is to say, and which call is to fail with what: the one of this number, counted from
// 1 (0: none), or the next one that begins so.
API void double_says(int init, int count, int of_version, int of_lanes, const char *of_chip) {
    init_answer = init, devices = count, version = of_version, lanes = of_lanes;
    snprintf(chip, sizeof chip, "%s", of_chip);
}
API void double_fails(int call, int with) { fails_at = call, fails_with = with; }
API void double_fails_in(const char *start, int with) { fails_in = start, fails_with = with; }
// Forgets the calls so far, not what they made.
API void double_forget(void) { calls = fails_at = 0; }
API int double_calls(void) { return calls; }
API const char *double_line(int call) { return lines[call]; }
API int double_left(void) {
    int left = 0;
    for (int k = 0; k < made; k++) left += objects[k].live && objects[k].kind != 'f';
    return left;
}
// What was used wrongly first; empty if nothing was.
API const char *double_misuse(void) { return misuse; }
