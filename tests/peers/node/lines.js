// The line protocol between a test and a peer: one JSON object a line, events on stdout, commands on stdin.
'use strict'

const readline = require('readline')

// Tells the test what happened.
function tell (event, fields = {}) {
  process.stdout.write(JSON.stringify({ event, ...fields }) + '\n')
}

// What the test wants: the role and its options, as the first argument.
function wish () {
  return JSON.parse(process.argv[2])
}

// Calls the command's handler for each line; the end of the input is the end of the peer.
function obey (handlers) {
  const lines = readline.createInterface({ input: process.stdin })
  lines.on('line', line => {
    const command = JSON.parse(line)
    handlers[command.do](command)
  })
  lines.on('close', () => process.exit(0))
}

// A payload as the command carries it, in a buffer of its own.
function payload (command) {
  return Buffer.from(Uint8Array.from(Buffer.from(command.payload, 'hex')).buffer)
}

module.exports = { tell, wish, obey, payload }
