// Fetches a URL and prints the body, as a blocking program does.
//
//     cc get.c $(pkg-config --cflags --libs iolite_conn) -o get && ./get http://127.0.0.1:8080/

#include <iolite_conn.h>
#include <stdio.h>

static int failed(const ic_conn *conn, const char *what) {
    ic_error error = {.struct_size = sizeof error};
    ic_last_error(conn, &error);
    fprintf(stderr, "%s: %s\n", what, error.msg);
    return 1;
}

static void print(const char *before, ic_slice text) {
    printf("%s%.*s\n", before, (int)text.len, text.ptr != NULL ? (const char *)text.ptr : "");
}

int main(int argc, char **argv) {
    if (argc < 2 || ic_check_abi(IC_ABI_VERSION) != IC_OK) {
        fprintf(stderr, "usage: %s URL [CA-FILE]\n", argv[0]);
        return 2;
    }
    ic_options *options = ic_options_new();
    int32_t code = ic_options_set_int(options, IC_OPT_TOTAL_TIMEOUT_NS, 10000000000);
    if (code == IC_OK && argc > 2) {
        code = ic_options_set_str(options, IC_OPT_CA_FILE, argv[2]);
    }
    ic_conn *conn = NULL;
    if (code == IC_OK) {
        code = ic_open(argv[1], options, &conn, NULL);
    }
    ic_options_free(options);
    if (code != IC_OK) {
        return failed(NULL, argv[1]);
    }

    ic_msg *request = NULL;
    ic_msg_new_request("GET", NULL, &request);
    ic_msg_add_header(request, "X-Echo-Example", (const uint8_t *)"get.c", 5);

    // A request can be sent as often as one likes, over one connection.
    for (int round = 0; round < 2; ++round) {
        ic_msg *response = NULL;
        if (ic_request(conn, request, -1, &response) != IC_OK) {
            int result = failed(conn, argv[1]);
            ic_msg_free(request);
            ic_free(conn);
            return result;
        }
        char peer[64] = "";
        ic_msg_peer_text(response, peer, sizeof peer, NULL);
        printf("status %d from %s\n", (int)ic_msg_status(response), peer);
        for (size_t place = 0; place < ic_msg_header_count(response); ++place) {
            ic_slice name, value;
            if (ic_msg_header_at(response, place, &name, &value)) {
                printf("%.*s: %.*s\n", (int)name.len, (const char *)name.ptr, (int)value.len, (const char *)value.ptr);
            }
        }
        print("", ic_msg_body(response));
        // What is given back makes the next message cheaper.
        ic_recycle(conn, response);
    }
    ic_msg_free(request);
    code = ic_close(conn, 1000, NULL, -1);
    ic_free(conn);
    return code == IC_OK ? 0 : 1;
}
