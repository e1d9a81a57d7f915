// Serves HTTP and WebSocket with and without TLS: `server.js PLAIN_PORT TLS_PORT CERTIFICATE KEY`.
//
// `/chunked` has a body in chunks and a trailer, `/early` 103 Early Hints, `/refused` refuses bodies that are announced
// with `Expect`, `/reset` breaks off; the others give bodies back.

'use strict';

const fs = require('fs');
const http = require('http');
const https = require('https');
const { WebSocketServer } = require('ws');

const [plain, tls, certificate, key] = process.argv.slice(2);

function answer(request, response) {
  switch (request.url) {
    case '/chunked':
      response.writeHead(200, { Trailer: 'X-Sum' });
      for (const part of ['one', 'two', 'six']) response.write(part);
      response.addTrailers({ 'X-Sum': '6' });
      response.end();
      break;
    case '/early':
      response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end('after the hints'));
      break;
    case '/reset':
      response.writeHead(200, { 'Content-Length': 10 });
      response.write('half', () => request.socket.destroy());
      break;
    default:
      response.setHeader('X-Method', request.method);
      request.pipe(response);
  }
}

function decide(request, response) {
  if (request.url === '/refused') {
    response.writeHead(403).end('no such bodies');
  } else {
    response.setHeader('X-Continued', 'yes');
    response.writeContinue();
    answer(request, response);
  }
}

function serve(server, port) {
  server.on('request', answer).on('checkContinue', decide);
  const websockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
  websockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  server.listen(Number(port), '127.0.0.1');
}

serve(https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) }), tls);
serve(http.createServer(), plain);
