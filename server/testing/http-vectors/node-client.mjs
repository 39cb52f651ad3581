// What Node's own HTTP client makes of answers: reads vectors as JSON from standard input, writes outcomes.
// Plain JavaScript for any Node from 18 on.
import http from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'

/** Loop turns without news after which a client that has all bytes is taken for one that waits for more. */
const quietTurns = 8

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Sends one request to a server that answers with these bytes. */
async function outcomeOf({ bytes, ending }) {
  const all = Buffer.from(bytes, 'latin1')
  const state = { request: undefined, isOver: false }
  // What was sent is not to be lost with a reset.
  const isRead = async () => {
    while (!state.isOver && (state.request?.socket?.bytesRead ?? 0) < all.length) await turn()
    for (let count = 0; count < quietTurns; count++) await turn()
  }
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      if (ending === 'open') socket.write(all)
      else if (ending === 'fin') socket.end(all)
      else {
        socket.write(all)
        void isRead().then(() => socket.resetAndDestroy())
      }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new http.Agent({ keepAlive: true })
  const headers = { 'content-length': '2' }
  const { port } = server.address()
  const options = { port, host: '127.0.0.1', method: 'POST', path: '/', agent, headers }
  const request = http.request({ ...options, insecureHTTPParser: false, maxHeaderSize: 65536 })
  state.request = request
  const outcome = await Promise.race([
    answered(request, agent),
    waiting(request, all.length, ending),
  ])
  state.isOver = true
  request.destroy()
  agent.destroy()
  server.close()
  return outcome
}

function answered(request, agent) {
  return new Promise((resolve) => {
    const reject = (error) => resolve({ verdict: 'rejected', code: error?.code ?? 'lost' })
    request.on('error', reject)
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ verdict: 'upgraded' })
    })
    request.on('response', (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('aborted', () => reject({ code: 'aborted' }))
      response.on('end', async () => {
        if (!response.complete) return reject({ code: 'incomplete' })
        const body = Buffer.concat(parts).toString('latin1')
        for (let count = 0; count < quietTurns; count++) await turn()
        const isReusable = Object.values(agent.freeSockets)
          .flat()
          .some((socket) => !socket.destroyed)
        resolve({ verdict: 'accepted', status: response.statusCode, body, isReusable })
      })
    })
    request.end('{}')
  })
}

/** Resolves once the client has read all bytes and does nothing for a while; never where the connection ends. */
async function waiting(request, length, ending) {
  if (ending !== 'open') return new Promise(() => undefined)
  let quiet = 0
  while (quiet < 10 * quietTurns) {
    for (let count = 0; count < quietTurns; count++) await turn()
    quiet = (request.socket?.bytesRead ?? 0) >= length ? quiet + 1 : 0
    if (request.socket?.destroyed) return new Promise(() => undefined)
  }
  return { verdict: 'waiting' }
}

const vectors = JSON.parse(await text(process.stdin))
const outcomes = []
for (const vector of vectors) outcomes.push(await outcomeOf(vector))
process.stdout.write(JSON.stringify({ version: process.versions.node, outcomes }))
