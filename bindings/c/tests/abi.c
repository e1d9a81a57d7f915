// What must not change without another major version of the interface.

#include <assert.h>
#include <iolite_conn.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof(ic_error) == 280, "ic_error");
static_assert(offsetof(ic_error, code) == 4, "ic_error.code");
static_assert(offsetof(ic_error, phase) == 8, "ic_error.phase");
static_assert(offsetof(ic_error, os_errno) == 12, "ic_error.os_errno");
static_assert(offsetof(ic_error, tls_alert) == 16, "ic_error.tls_alert");
static_assert(offsetof(ic_error, http_status) == 20, "ic_error.http_status");
static_assert(offsetof(ic_error, msg) == 24, "ic_error.msg");

static_assert(sizeof(ic_slice) == 2 * sizeof(void *), "ic_slice");
static_assert(offsetof(ic_slice, len) == sizeof(void *), "ic_slice.len");

static_assert(sizeof(ic_info) == 32, "ic_info");
static_assert(offsetof(ic_info, kind) == 4, "ic_info.kind");
static_assert(offsetof(ic_info, status) == 8, "ic_info.status");
static_assert(offsetof(ic_info, flags) == 12, "ic_info.flags");
static_assert(offsetof(ic_info, interface_index) == 16, "ic_info.interface_index");
static_assert(offsetof(ic_info, received_ns) == 24, "ic_info.received_ns");

static_assert(offsetof(ic_event, kind) == 4, "ic_event.kind");
static_assert(offsetof(ic_event, state) == 8, "ic_event.state");
static_assert(offsetof(ic_event, close_code) == 12, "ic_event.close_code");
static_assert(offsetof(ic_event, msg) == 16, "ic_event.msg");

static_assert(sizeof(ic_opt) == 4 && sizeof(ic_code) == 4 && sizeof(ic_kind) == 4, "enumerations");

static_assert(IC_ABI_VERSION == 0x00010000, "IC_ABI_VERSION");
static_assert(IC_E_BAD_URL == -1 && IC_E_WOULD_BLOCK == -6 && IC_E_TIMED_OUT == -9, "codes");
static_assert(IC_E_CONNECT_REFUSED == -22 && IC_E_CERT_EXPIRED == -64 && IC_E_WS_UTF8 == -113, "codes");
static_assert(IC_E_PANIC == -150 && IC_E_TOO_SMALL == -152 && IC_E_BAD_HANDLE == -154, "codes");
static_assert(IC_OPT_RECEIVE_MODE == 3 && IC_OPT_CA_FILE == 60 && IC_OPT_DEVICE == 160, "options");
static_assert(IC_KIND_REQUEST == 1 && IC_KIND_DATAGRAM == 9, "kinds");
static_assert(IC_STATE_IDLE == 0 && IC_STATE_CLOSED == 10, "states");
static_assert(IC_EVENT_STATE == 1 && IC_EVENT_CLOSED == 8, "events");

int main(void) {
    assert(ic_check_abi(IC_ABI_VERSION) == IC_OK);
    assert(ic_check_abi(IC_ABI_VERSION + 1) == IC_E_ABI_MISMATCH);
    assert(strncmp(ic_version_string(), "iolite_conn ", 12) == 0);
    assert(strcmp(ic_strerror(IC_E_TIMED_OUT), "the deadline passed") == 0);

    ic_conn *conn = NULL;
    ic_error error = {.struct_size = sizeof error};
    assert(ic_open("nonsense", NULL, &conn, &error) == IC_E_BAD_URL);
    assert(conn == NULL && error.code == IC_E_BAD_URL && error.phase == IC_PHASE_ARGUMENTS);
    ic_free(conn);

    assert(ic_open("udp://127.0.0.1:9", NULL, &conn, &error) == IC_OK);
    ic_free(conn);
    ic_free(conn);
    ic_error last = {.struct_size = sizeof last};
    assert(ic_connect(conn, 0) == IC_E_BAD_HANDLE);
    assert(ic_last_error(NULL, &last) == IC_OK && strstr(last.msg, "freed") != NULL);
    return 0;
}
