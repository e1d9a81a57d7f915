// Sends messages to a WebSocket that echoes them, without any allocation of its own.
//
//     cc ws_echo.c $(pkg-config --cflags --libs iolite_conn) -o ws_echo && ./ws_echo ws://127.0.0.1:8080/

#include <iolite_conn.h>
#include <stdio.h>
#include <string.h>

static int failed(const ic_conn *conn, const char *what) {
    ic_error error = {.struct_size = sizeof error};
    ic_last_error(conn, &error);
    fprintf(stderr, "%s: %s (%s)\n", what, error.msg, ic_phase_name(error.phase));
    return 1;
}

static int talk(ic_conn *conn) {
    for (int round = 0; round < 3; ++round) {
        char text[32];
        int length = snprintf(text, sizeof text, "message %d", round);
        if (ic_send_bytes(conn, IC_KIND_TEXT, (const uint8_t *)text, (size_t)length) != IC_OK) {
            return failed(conn, "send");
        }
        uint8_t answer[8];
        size_t needed = 0;
        ic_info info = {.struct_size = sizeof info};
        // The first buffer is too small on purpose: nothing is lost.
        if (ic_recv_into(conn, answer, sizeof answer, &needed, &info, 5000000000) != IC_E_TOO_SMALL) {
            return failed(conn, "receive");
        }
        uint8_t larger[64];
        if (ic_recv_into(conn, larger, sizeof larger, &needed, &info, 0) != IC_OK) {
            return failed(conn, "receive");
        }
        if (needed != (size_t)length || memcmp(larger, text, needed) != 0 || info.kind != IC_KIND_TEXT) {
            fprintf(stderr, "not an echo\n");
            return 1;
        }
        printf("%.*s\n", (int)needed, (const char *)larger);
    }
    if (ic_close(conn, 1000, "done", 2000000000) != IC_OK) {
        return failed(conn, "close");
    }
    int32_t code = 0;
    ic_msg *reason = NULL;
    if (ic_closed(conn, &code, &reason)) {
        printf("closed with %d\n", (int)code);
    }
    ic_msg_free(reason);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2 || ic_check_abi(IC_ABI_VERSION) != IC_OK) {
        fprintf(stderr, "usage: %s URL\n", argv[0]);
        return 2;
    }
    ic_conn *conn = NULL;
    if (ic_open(argv[1], NULL, &conn, NULL) != IC_OK) {
        return failed(NULL, argv[1]);
    }
    int result = ic_connect(conn, -1) == IC_OK ? talk(conn) : failed(conn, "connect");
    ic_free(conn);
    return result;
}
