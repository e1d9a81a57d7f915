// raknet-native: C++ RakNet. The bare bindings are used, because the package's own classes swallow the receipts.
'use strict'

const { RakClient, RakServer } = require('raknet-native')
const { tell, wish, obey, payload } = require('./lines')

const RECEIPT_ACKED = 14
const RECEIPT_LOST = 15
const CONNECTION_REQUEST_ACCEPTED = 16
const NEW_INCOMING_CONNECTION = 19
const DISCONNECTION_NOTIFICATION = 21
const CONNECTION_LOST = 22
const UNCONNECTED_PONG = 28
const FIRST_USER_MESSAGE = 134

function handle (message, address, guid) {
  const buffer = Buffer.from(message)
  const id = buffer[0]
  switch (id) {
    case CONNECTION_REQUEST_ACCEPTED:
    case NEW_INCOMING_CONNECTION:
      other = { address, guid }
      return tell('connected')
    case RECEIPT_ACKED:
    case RECEIPT_LOST:
      return tell('receipt', { receipt: buffer.readUInt32LE(1), acked: id === RECEIPT_ACKED })
    case DISCONNECTION_NOTIFICATION:
      return tell('disconnected', { how: 'told' })
    case CONNECTION_LOST:
      return tell('disconnected', { how: 'lost' })
    case UNCONNECTED_PONG:
      return tell('pong', { payload: buffer.subarray(5).toString('hex') })
  }
  if (id >= FIRST_USER_MESSAGE) tell('message', { payload: buffer.toString('hex') })
  else tell('refused', { id })
}

let other
let send
let close
const wanted = wish()
const options = { protocolVersion: wanted.protocol }

if (wanted.role === 'server') {
  const server = new RakServer('127.0.0.1', wanted.port, { ...options, maxConnections: 4 })
  server.listen(packets => packets.forEach(packet => handle(...packet)))
  send = (message, command) => {
    const [host, port] = other.address.split('/')
    return server.send(host, parseInt(port), message, command.priority, command.reliability, command.channel, false)
  }
  close = () => server.kick(other.guid, false)
  tell('listening', { port: wanted.port })
} else {
  const client = new RakClient(wanted.host, wanted.port, options)
  client.listen((messages, address, guid) => messages.forEach(message => handle(message, address, guid)))
  send = (message, command) =>
    client.send(message, command.priority, command.reliability, command.channel, false)
  close = () => client.close()
  if (wanted.ping) client.ping()
  else client.connect()
}

obey({
  send: command => {
    const receipt = send(payload(command).buffer, command)
    if (receipt <= 0) throw new Error(`the message was not taken: ${receipt}`)
    tell('sent', { receipt })
  },
  close: () => close()
})
