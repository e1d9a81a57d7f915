"""Serves with a package of PyPI: `server.py PACKAGE PLAIN_PORT TLS_PORT CERTIFICATE KEY`.

All give WebSocket messages back. Those that speak HTTP too give bodies back, and `/chunked` has one in chunks.
"""

import asyncio
import ssl
import sys

KIND, PLAIN, TLS, CERTIFICATE, KEY = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
HOST = "127.0.0.1"
MAX_MESSAGE = 4 << 20


def secret():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def serve_websockets():
    from websockets.asyncio.server import serve

    async def echo(connection):
        async for message in connection:
            await connection.send(message)

    async with (
        serve(echo, HOST, PLAIN, max_size=MAX_MESSAGE),
        serve(echo, HOST, TLS, max_size=MAX_MESSAGE, ssl=secret()),
    ):
        await asyncio.Future()


async def serve_aiohttp():
    from aiohttp import WSMsgType, web

    async def echo(request):
        return web.Response(body=await request.read())

    async def chunked(request):
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        for part in (b"one", b"two", b"six"):
            await response.write(part)
        await response.write_eof()
        return response

    async def websocket(request):
        socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE)
        await socket.prepare(request)
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                await socket.send_str(message.data)
            elif message.type == WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    app = web.Application(client_max_size=MAX_MESSAGE)
    app.router.add_get("/chunked", chunked)
    app.router.add_get("/ws", websocket)
    app.router.add_route("*", "/{rest:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, HOST, TLS, ssl_context=secret()).start()
    await web.TCPSite(runner, HOST, PLAIN).start()
    await asyncio.Future()


async def application(scope, receive, send):
    """An ASGI application."""
    if scope["type"] == "websocket":
        await websocket_application(receive, send)
    elif scope["type"] == "http":
        await http_application(scope, receive, send)


async def websocket_application(receive, send):
    while True:
        event = await receive()
        if event["type"] == "websocket.connect":
            await send({"type": "websocket.accept"})
        elif event["type"] == "websocket.disconnect":
            return
        elif event.get("text") is not None:
            await send({"type": "websocket.send", "text": event["text"]})
        else:
            await send({"type": "websocket.send", "bytes": event["bytes"]})


async def http_application(scope, receive, send):
    parts = []
    while True:
        event = await receive()
        parts.append(event.get("body", b""))
        if not event.get("more_body"):
            break
    if scope["path"] == "/chunked":
        parts = [b"one", b"two", b"six"]
    # Without a length it goes out in chunks.
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for part in parts:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def serve_uvicorn():
    import uvicorn

    def server(**options):
        config = uvicorn.Config(application, host=HOST, log_level="warning", ws="websockets-sansio", **options)
        config.load()
        return uvicorn.Server(config)

    await asyncio.gather(
        server(port=TLS, ssl_certfile=CERTIFICATE, ssl_keyfile=KEY).serve(),
        server(port=PLAIN).serve(),
    )


SERVERS = {"websockets": serve_websockets, "aiohttp": serve_aiohttp, "uvicorn": serve_uvicorn}

asyncio.run(SERVERS[KIND]())
