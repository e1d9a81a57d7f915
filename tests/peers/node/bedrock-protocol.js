// bedrock-protocol: a Bedrock client and server, offline mode, that log in and exchange game packets.
'use strict'

const bedrock = require('bedrock-protocol')
const { tell, wish, obey } = require('./lines')

const VERSION = '1.21.60'
const wanted = wish()

// What the login of a Bedrock client goes through, and a chat message either way.
if (wanted.role === 'server') {
  const server = bedrock.createServer({
    host: '127.0.0.1', port: wanted.port, version: VERSION, offline: true, motd: { motd: 'Iolite', levelName: 'interop' }
  })
  server.on('connect', client => {
    client.on('join', () => {
      tell('joined', { name: client.profile.name })
      client.write('resource_packs_info', {
        must_accept: false,
        has_addons: false,
        has_scripts: false,
        disable_vibrant_visuals: false,
        world_template: { uuid: '550e8400-e29b-41d4-a716-446655440000', version: '' },
        texture_packs: []
      })
    })
    client.on('text', packet => {
      tell('text', { message: packet.message })
      client.write('text', { ...packet, message: packet.message.toUpperCase() })
    })
    client.on('close', () => tell('closed'))
  })
  tell('listening', { port: wanted.port })
} else {
  const client = bedrock.createClient({
    host: wanted.host, port: wanted.port, version: VERSION, username: 'Iolite', offline: true, skipPing: false
  })
  client.on('join', () => tell('joined', { name: client.username }))
  client.on('resource_packs_info', () => {
    tell('packs')
    const messages = ['hello', 'x'.repeat(30000)]
    for (const message of messages) {
      client.write('text', {
        type: 'chat', needs_translation: false, source_name: 'Iolite', xuid: '', platform_chat_id: '', filtered_message: '', message
      })
    }
  })
  client.on('text', packet => tell('text', { message: packet.message }))
  client.on('kick', reason => tell('kicked', { reason: JSON.stringify(reason) }))
  client.on('error', error => tell('error', { error: String(error) }))
  client.on('close', () => tell('closed'))
  obeyClose(client)
}

function obeyClose (client) {
  obey({ close: () => client.close() })
}
if (wanted.role === 'server') obey({})
