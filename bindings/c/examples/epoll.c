// Drives a connection from an event loop of one's own, without ever waiting in the library.
//
//     cc epoll.c $(pkg-config --cflags --libs iolite_conn) -o epoll && ./epoll http://127.0.0.1:8080/

#include <errno.h>
#include <iolite_conn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static int failed(const ic_conn *conn, const char *what) {
    ic_error error = {.struct_size = sizeof error};
    ic_last_error(conn, &error);
    fprintf(stderr, "%s: %s\n", what, error.msg);
    return 1;
}

// Watches the descriptor of now for what is wanted now: both may change with each call.
static int watch(int loop, ic_conn *conn, int *watched) {
    int fd = ic_fd(conn);
    int32_t wants = ic_wants(conn);
    if (fd < 0 || wants < 0) {
        return -1;
    }
    struct epoll_event event = {0};
    event.events = ((wants & IC_WANTS_READ) ? (uint32_t)EPOLLIN : 0U) | ((wants & IC_WANTS_WRITE) ? (uint32_t)EPOLLOUT : 0U);
    event.data.fd = fd;
    if (fd != *watched && *watched >= 0) {
        // A descriptor that was closed meanwhile has left the loop by itself.
        epoll_ctl(loop, EPOLL_CTL_DEL, *watched, NULL);
    }
    *watched = fd;
    if (epoll_ctl(loop, EPOLL_CTL_MOD, fd, &event) == 0) {
        return 0;
    }
    return errno == ENOENT ? epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) : -1;
}

static int wait_ms(int64_t ns) {
    if (ns < 0) {
        return -1;
    }
    int64_t ms = (ns + 999999) / 1000000;
    return ms > 1000 ? 1000 : (int)ms;
}

static int run(int loop, ic_conn *conn) {
    int watched = -1;
    for (int turn = 0; turn < 1000; ++turn) {
        ic_msg *response = NULL;
        int32_t code = ic_recv(conn, 0, &response);
        if (code == IC_OK) {
            ic_slice body = ic_msg_body(response);
            printf("status %d, %zu bytes\n", (int)ic_msg_status(response), body.len);
            ic_msg_free(response);
            return 0;
        }
        if (code != IC_E_WOULD_BLOCK) {
            return failed(conn, "receive");
        }
        if (watch(loop, conn, &watched) != 0) {
            return failed(conn, "watch");
        }
        struct epoll_event ready;
        if (epoll_wait(loop, &ready, 1, wait_ms(ic_next_timeout_ns(conn))) < 0 && errno != EINTR) {
            perror("epoll_wait");
            return 1;
        }
        if (ic_process(conn) != IC_OK) {
            return failed(conn, "process");
        }
    }
    fprintf(stderr, "no answer\n");
    return 1;
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
    int loop = epoll_create1(EPOLL_CLOEXEC);
    ic_msg *request = NULL;
    ic_msg_new_request(NULL, NULL, &request);
    int result = ic_send(conn, request, NULL) == IC_OK ? run(loop, conn) : failed(conn, "send");
    ic_msg_free(request);
    ic_free(conn);
    close(loop);
    return result;
}
