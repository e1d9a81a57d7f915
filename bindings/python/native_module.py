"""Describes the extension module `iolite_conn._native`: the C interface, and a few calls that do several things in one.

The declarations are read from the C header, so that they cannot differ from it.
"""

import pathlib
import re

import cffi

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent / "c" / "include"


def declarations(header: str) -> str:
    """Returns what cffi understands of a header: what is there for C11, without comments and directives."""
    kept = []
    # Whether each condition that is open holds. Those of the header ask for C++ and C23, and for its own guard.
    conditions = []
    for line in header.splitlines():
        if line.startswith("#if"):
            conditions.append(line.startswith("#ifndef"))
        elif line.startswith("#else"):
            conditions[-1] = not conditions[-1]
        elif line.startswith("#endif"):
            conditions.pop()
        elif all(conditions) and (not line.startswith("#") or re.match(r"#define \w+ \S", line)):
            kept.append(re.sub(r"//.*", "", line))
    return "\n".join(kept)


# Calls that spare Python several. They copy short bodies and refer to long ones, and look up from waiting now and then,
# so that Python can take care of signals.
GLUE_DECLARATIONS = """
typedef struct {
    ic_msg *msg;
    const uint8_t *body;
    size_t len;
    uint64_t exchange;
    int32_t kind;
    int32_t status;
} icpy_answer;

typedef struct { int32_t released; } icpy_hold;

icpy_hold *icpy_hold_new(void);
void icpy_hold_free(icpy_hold *hold);
int32_t icpy_hold_released(const icpy_hold *hold);
int32_t icpy_set_body(ic_msg *msg, const uint8_t *body, size_t len, icpy_hold *hold);
int32_t icpy_request(ic_conn *conn, const char *method, const char *target, const uint8_t *body, size_t len,
                     icpy_hold *hold, int64_t timeout_ns, icpy_answer *out);
int32_t icpy_exchange(ic_conn *conn, const ic_msg *msg, int64_t timeout_ns, icpy_answer *out);
int32_t icpy_answer_to(ic_conn *conn, uint64_t exchange, int64_t timeout_ns, icpy_answer *out);
int32_t icpy_recv(ic_conn *conn, int64_t timeout_ns, icpy_answer *out);
"""

GLUE = r"""
#include <iolite_conn.h>
#include <stdlib.h>

typedef struct {
    ic_msg *msg;
    const uint8_t *body;
    size_t len;
    uint64_t exchange;
    int32_t kind;
    int32_t status;
} icpy_answer;

typedef struct { int32_t released; } icpy_hold;

/* Says when nobody uses a buffer of Python's any more. It belongs to Python. */
static icpy_hold *icpy_hold_new(void) { return calloc(1, sizeof(icpy_hold)); }
static void icpy_hold_free(icpy_hold *hold) { free(hold); }
static int32_t icpy_hold_released(const icpy_hold *hold) { return __atomic_load_n(&hold->released, __ATOMIC_ACQUIRE); }
static void icpy_release(void *user, const uint8_t *body, size_t len) {
    (void)body;
    (void)len;
    __atomic_store_n(&((icpy_hold *)user)->released, 1, __ATOMIC_RELEASE);
}

static int32_t icpy_set_body(ic_msg *msg, const uint8_t *body, size_t len, icpy_hold *hold) {
    return hold == NULL ? ic_msg_set_body(msg, body, len)
                        : ic_msg_set_body_borrowed(msg, body, len, icpy_release, hold);
}

static int32_t icpy_fill(int32_t code, icpy_answer *out) {
    if (code == IC_OK) {
        ic_slice body = ic_msg_body(out->msg);
        out->body = body.ptr;
        out->len = body.len;
        out->kind = ic_msg_kind(out->msg);
        out->status = ic_msg_status(out->msg);
    }
    return code;
}

static int32_t icpy_answer_to(ic_conn *conn, uint64_t exchange, int64_t timeout_ns, icpy_answer *out) {
    return icpy_fill(ic_answer(conn, exchange, timeout_ns, &out->msg), out);
}

static int32_t icpy_recv(ic_conn *conn, int64_t timeout_ns, icpy_answer *out) {
    return icpy_fill(ic_recv(conn, timeout_ns, &out->msg), out);
}

static int32_t icpy_exchange(ic_conn *conn, const ic_msg *msg, int64_t timeout_ns, icpy_answer *out) {
    int32_t code = ic_send(conn, msg, &out->exchange);
    return code == IC_OK ? icpy_answer_to(conn, out->exchange, timeout_ns, out) : code;
}

static int32_t icpy_request(ic_conn *conn, const char *method, const char *target, const uint8_t *body, size_t len,
                            icpy_hold *hold, int64_t timeout_ns, icpy_answer *out) {
    ic_msg *msg = NULL;
    out->exchange = 0;
    int32_t code = ic_msg_new_request(method, target, &msg);
    if (code == IC_OK && len > 0) {
        code = icpy_set_body(msg, body, len, hold);
    } else if (hold != NULL) {
        icpy_release(hold, body, len);
    }
    if (code == IC_OK) {
        code = ic_send(conn, msg, &out->exchange);
    }
    /* The shell is used again for the answer. */
    ic_recycle(conn, msg);
    return code == IC_OK ? icpy_answer_to(conn, out->exchange, timeout_ns, out) : code;
}
"""

ffi = cffi.FFI()
ffi.cdef(declarations((INCLUDE / "iolite_conn.h").read_text()) + GLUE_DECLARATIONS)
ffi.set_source(
    "iolite_conn._native",
    GLUE,
    include_dirs=[str(INCLUDE)],
    libraries=["iolite_conn"],
    extra_link_args=["-Wl,-rpath,$ORIGIN"],
    py_limited_api=True,
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
