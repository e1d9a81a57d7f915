// Visits Iolite's echo server with a package of npm: `client.js PACKAGE URL AUTHORITY`. Fails by an exception.

'use strict';

const assert = require('assert');
const fs = require('fs');
const { once } = require('events');

const [kind, url, authority] = process.argv.slice(2);
const ca = fs.readFileSync(authority);
const LENGTHS = [0, 1, 125, 126, 65535, 65536, 1000000];

async function visitWithUndici() {
  const { Agent, WebSocket, request } = require('undici');
  const dispatcher = new Agent({ connect: { ca } });
  for (const length of LENGTHS.slice(1)) {
    const body = Buffer.alloc(length, 7);
    const answer = await request(url, { dispatcher, method: 'POST', body });
    assert.strictEqual(answer.statusCode, 200);
    assert.ok(body.equals(Buffer.from(await answer.body.arrayBuffer())));
  }
  const chunked = await request(new URL('chunked', url), { dispatcher });
  assert.strictEqual(await chunked.body.text(), 'onetwosix');
  assert.strictEqual(chunked.trailers['x-sum'], '6');
  const large = await request(new URL('large', url), { dispatcher });
  assert.strictEqual((await large.body.arrayBuffer()).byteLength, 3000000);

  const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher });
  socket.binaryType = 'arraybuffer';
  await once(socket, 'open');
  for (const length of LENGTHS) {
    const text = 'x'.repeat(length);
    socket.send(text);
    assert.strictEqual((await once(socket, 'message'))[0].data, text);
    const bytes = Buffer.alloc(length, 200);
    socket.send(bytes);
    assert.ok(bytes.equals(Buffer.from((await once(socket, 'message'))[0].data)));
  }
  socket.close(1000, 'done');
  const [closed] = await once(socket, 'close');
  assert.deepStrictEqual([closed.code, closed.wasClean], [1000, true]);
  await dispatcher.close();
}

async function visitWithWs() {
  const WebSocket = require('ws');
  for (const perMessageDeflate of [false, { threshold: 0 }]) {
    const socket = new WebSocket(url, { ca, perMessageDeflate });
    await once(socket, 'open');
    assert.strictEqual(socket.extensions !== '', perMessageDeflate !== false);
    for (const length of LENGTHS) {
      for (const data of ['x'.repeat(length), Buffer.alloc(length, 200)]) {
        socket.send(data);
        const [answer, isBinary] = await once(socket, 'message');
        assert.ok(Buffer.from(data).equals(answer));
        assert.strictEqual(isBinary, typeof data !== 'string');
      }
    }
    socket.send('one', { fin: false });
    socket.send('two', { fin: true });
    assert.strictEqual(String((await once(socket, 'message'))[0]), 'onetwo');
    socket.ping('are you there');
    assert.strictEqual(String((await once(socket, 'pong'))[0]), 'are you there');
    socket.close(3000, 'done');
    const [code] = await once(socket, 'close');
    assert.strictEqual(code, 3000);
  }
}

({ undici: visitWithUndici, ws: visitWithWs })[kind]();
