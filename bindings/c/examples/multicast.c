// Joins a group on one interface, says something there, and hears it.
//
//     cc multicast.c $(pkg-config --cflags --libs iolite_conn) -o multicast && ./multicast udp_multicast://239.1.2.3:5000 eth0

#include <iolite_conn.h>
#include <stdio.h>

static int failed(const ic_conn *conn, const char *what) {
    ic_error error = {.struct_size = sizeof error};
    ic_last_error(conn, &error);
    fprintf(stderr, "%s: %s\n", what, error.msg);
    return 1;
}

static int talk(ic_conn *conn) {
    if (ic_connect(conn, -1) != IC_OK) {
        return failed(conn, "join");
    }
    if (ic_send_bytes(conn, IC_KIND_DATAGRAM, (const uint8_t *)"hello, group", 12) != IC_OK) {
        return failed(conn, "send");
    }
    ic_msg *heard = NULL;
    if (ic_recv(conn, 5000000000, &heard) != IC_OK) {
        return failed(conn, "receive");
    }
    char from[64] = "", to[64] = "";
    ic_msg_peer_text(heard, from, sizeof from, NULL);
    ic_msg_local_text(heard, to, sizeof to, NULL);
    ic_slice body = ic_msg_body(heard);
    printf("%.*s (from %s to %s, interface %u)\n", (int)body.len, (const char *)body.ptr, from, to,
           (unsigned)ic_msg_interface(heard));
    ic_msg_free(heard);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3 || ic_check_abi(IC_ABI_VERSION) != IC_OK) {
        fprintf(stderr, "usage: %s URL INTERFACE\n", argv[0]);
        return 2;
    }
    ic_options *options = ic_options_new();
    ic_options_set_str(options, IC_OPT_INTERFACE, argv[2]);
    ic_options_set_int(options, IC_OPT_TTL, 1);
    ic_conn *conn = NULL;
    int32_t code = ic_open(argv[1], options, &conn, NULL);
    ic_options_free(options);
    if (code != IC_OK) {
        return failed(NULL, argv[1]);
    }
    int result = talk(conn);
    ic_close(conn, 1000, NULL, -1);
    ic_free(conn);
    return result;
}
