"""Joins standard input and output to a TCP server, whose host and port are the arguments."""

import os
import socket
import sys
import threading

server = socket.create_connection((sys.argv[1], int(sys.argv[2])))


def upload():
    while data := os.read(0, 65536):
        server.sendall(data)
    server.shutdown(socket.SHUT_WR)


threading.Thread(target=upload, daemon=True).start()
while data := server.recv(65536):
    os.write(1, data)
