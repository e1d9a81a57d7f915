"""The connection that asyncio's loop drives."""

import asyncio
import gc
import threading

import pytest
from conftest import descriptors

from iolite_conn import AsyncConnection, Kind, Message, State, errors


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def test_requests_are_answered_without_a_thread(peer):
    async def go():
        async with AsyncConnection(peer.http) as connection:
            answer = await connection.post("/echo", b"x" * 300_000, {"X-Echo-A": "1"})
            assert answer.status == 200 and len(answer) == 300_000
            assert answer.headers["x-echo-a"] == "1"
            for _ in range(20):
                assert (await connection.get("/bytes/5")).text == "xxxxx"
            assert threading.active_count() == 1

    run(go())


def test_several_requests_wait_for_their_own_answers(peer):
    async def go():
        async with AsyncConnection(peer.http) as connection:
            answers = await asyncio.gather(*(connection.get(f"/bytes/{size}") for size in range(20)))
            assert [len(answer) for answer in answers] == list(range(20))

    run(go())


def test_a_websocket_talks_and_is_iterated(ws):
    async def go():
        async with AsyncConnection(ws) as connection:
            await connection.connect(5)
            assert connection.state == State.OPEN
            for text in ("one", "two", "three"):
                await connection.send(text)
            heard = []
            async for message in connection:
                heard.append(message.text)
                if len(heard) == 3:
                    await connection.close()
            assert heard == ["one", "two", "three"] and connection.closed[0] == 1000

    run(go())


def test_two_connections_share_a_loop(peer, ws):
    async def go():
        async with AsyncConnection(ws) as one, AsyncConnection(peer.udp) as other:
            waiting = asyncio.create_task(one.recv(5))
            await other.send(b"datagram")
            assert (await other.recv(5)).kind == Kind.DATAGRAM
            await one.send(b"frame")
            assert bytes(await waiting) == b"frame"

    run(go())


def test_a_deadline_is_kept_and_a_request_withdrawn(peer):
    async def go():
        async with AsyncConnection(peer.http) as connection:
            with pytest.raises(errors.TimedOut):
                await connection.get("/slow", timeout=0.2)
            assert (await connection.get("/bytes/1", timeout=5)).ok

    run(go())


def test_a_cancelled_call_leaves_nothing_behind(peer, ws):
    async def go():
        async with AsyncConnection(peer.http) as connection:
            slow = asyncio.create_task(connection.get("/slow"))
            await asyncio.sleep(0.1)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            assert (await connection.get("/bytes/1", timeout=5)).ok
        async with AsyncConnection(ws) as connection:
            waiting = asyncio.create_task(connection.recv())
            await asyncio.sleep(0.05)
            waiting.cancel()
            await connection.send("kept")
            assert (await connection.recv(5)).text == "kept"

    run(go())


def test_errors_come_as_exceptions():
    async def go():
        async with AsyncConnection("http://127.0.0.1:1/") as connection:
            with pytest.raises(errors.ConnectRefused):
                await connection.get(timeout=5)
        async with AsyncConnection("ws://127.0.0.1:1/") as connection:
            with pytest.raises(errors.ConnectRefused):
                await connection.connect(5)

    run(go())


def test_names_are_resolved_and_tls_spoken(peer):
    async def go():
        url = peer.https.replace("127.0.0.1", "localhost")
        async with AsyncConnection(url, ca_file=peer.certificate) as connection:
            answer = await connection.exchange(Message.request("POST", "/echo", b"secret"))
            assert bytes(answer) == b"secret"

    run(go())


def test_a_body_is_received_in_parts(peer):
    async def go():
        async with AsyncConnection(peer.http, stream_responses=True) as connection:
            answer = await connection.get("/bytes/500000")
            assert answer.status == 200
            assert sum([part.nbytes async for part in connection.parts(5)]) == 500_000

    run(go())


def test_opening_and_closing_again_and_again_grows_nothing(peer):
    async def round_trip():
        async with AsyncConnection(peer.http) as connection:
            assert (await connection.get("/bytes/9")).ok

    async def go():
        for _ in range(20):
            await round_trip()
        gc.collect()
        before = descriptors()
        for _ in range(200):
            await round_trip()
        gc.collect()
        assert descriptors() == before

    run(go())
