// jsp-raknet: RakNet in JavaScript, protocol version 10.
'use strict'

const { Client, Server, EncapsulatedPacket } = require('jsp-raknet')
const ServerName = require('jsp-raknet/js/utils/ServerName').default
const { tell, wish, obey, payload } = require('./lines')

const wanted = wish()
let connection
let close

if (wanted.role === 'server') {
  const server = new Server('127.0.0.1', 0, new ServerName())
  server.on('openConnection', opened => {
    connection = opened
    tell('connected')
  })
  follow(server)
  // The server ends with its first connection; that end is all there is to see of a disconnection.
  const end = server.close
  server.close = reason => {
    tellDisconnected(reason)
    end.call(server)
  }
  server.listen().then(() => tell('listening', { port: server.socket.address().port }))
  close = () => server.close('ours')
} else {
  const client = new Client(wanted.host, wanted.port)
  client.on('connected', opened => {
    connection = opened
    tell('connected')
  })
  client.on('disconnect', tellDisconnected)
  follow(client)
  client.connect()
  close = () => client.close()
}

function follow (listener) {
  listener.on('encapsulated', packet => tell('message', { payload: packet.buffer.toString('hex') }))
}

function tellDisconnected (reason) {
  // Only 'client disconnect' comes from the other side's notification.
  tell('disconnected', { how: reason === 'client disconnect' ? 'told' : 'lost' })
}

obey({
  send: command => {
    const packet = new EncapsulatedPacket()
    packet.reliability = command.reliability
    packet.orderChannel = command.channel
    packet.buffer = payload(command)
    connection.addEncapsulatedToQueue(packet)
    tell('sent')
  },
  close: () => close()
})
