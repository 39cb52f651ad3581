import { gzipSync } from 'node:zlib'
import { eventually } from '../../../server/testing/eventually'
import { startGateway } from '../../harness/server'

const event = `data: ${JSON.stringify({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }],
})}\n\n`

interface Flooding {
  rest: Buffer
  piece: Buffer
  /** Those that went out whole, the beginning of the answer included. */
  pieces: number
}

const chunkOf = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** The floods of an upstream: a first event, and a piece repeated after it without an end. */
const floods = {
  events: { coding: '', first: event, piece: Buffer.from(event.repeat(400)) },
  comments: { coding: '', first: event, piece: Buffer.from(': c\n'.repeat(16_000)) },
  // Decoded a thousand times as long.
  compressed: {
    coding: 'content-encoding: gzip\r\n',
    first: event,
    piece: gzipSync(Buffer.from('\n'.repeat(50_000_000))),
  },
  // Its callers leave before the first event.
  'compressed blanks': {
    coding: 'content-encoding: gzip\r\n',
    first: '\n',
    piece: gzipSync(Buffer.from('\n'.repeat(50_000_000))),
  },
}

/** A provider on a free port that floods every client that sends it a request, until it is stopped. */
function startFlood() {
  let flood: FloodKind = 'events'
  let requests = 0
  let latest: Flooding | undefined
  const sockets = new Set<{ terminate: () => void }>()
  const pump = (socket: { data: Flooding; write: (bytes: Buffer) => number }): void => {
    for (let turn = 0; turn < 16; turn++) {
      const written = socket.write(socket.data.rest)
      if (written < 0) return
      if (written < socket.data.rest.length) {
        socket.data.rest = socket.data.rest.subarray(written)
        return
      }
      socket.data.rest = socket.data.piece
      socket.data.pieces += 1
    }
    setTimeout(() => pump(socket), 1)
  }
  const server = Bun.listen<Flooding>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void sockets.add(socket),
      close: (socket) => void sockets.delete(socket),
      drain: pump,
      data(socket, bytes) {
        if (!bytes.includes('\r\n\r\n')) return
        requests += 1
        const { coding, first, piece } = floods[flood]
        const begun = coding === '' ? Buffer.from(first) : gzipSync(first)
        const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${coding}transfer-encoding: chunked\r\n\r\n`
        const rest = Buffer.concat([Buffer.from(head), chunkOf(begun)])
        latest = { rest, piece: chunkOf(piece), pieces: 0 }
        socket.data = latest
        pump(socket)
      },
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    get kind() {
      return flood
    },
    with: (kind: FloodKind) => void (flood = kind),
    get requests() {
      return requests
    },
    /** Whether a piece of the flood went out whole in answer to the latest request. */
    get hasBegun() {
      return (latest?.pieces ?? 0) > 1
    },
    cut: () => sockets.forEach((socket) => socket.terminate()),
    [Symbol.dispose]: () => server.stop(true),
  }
}

type FloodKind = keyof typeof floods

export const floodKinds = ['events', 'comments', 'compressed', 'compressed blanks'] as const

/** Starts a gateway whose provider floods. */
export async function startFloodedGateway() {
  await using stack = new AsyncDisposableStack()
  const flood = stack.use(startFlood())
  const gateway = stack.use(
    await startGateway({
      // Its processor time is measured.
      process: 'own',
      environment: {
        // Groq bills the whole of an answer that is left.
        GROQ_API_KEY: 'gsk_0123456789abcdef',
        GROQ_BASE_URL: flood.url,
        METRICS_PORT: '0',
        LOG_LEVEL: 'info',
      },
    }),
  )
  const { key } = await gateway.customer()
  const open = stack.move()
  return {
    flood,
    gateway,
    /** Opens a stream, and leaves once its first bytes are there, or the flood has begun where none come. */
    leaveStream: async () => {
      const before = flood.requests
      const leaving = new AbortController()
      const opening = fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        signal: leaving.signal,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'groq/llama-3.1-8b-instant',
          stream: true,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      })
      const state = { hasBegun: flood.kind === 'compressed blanks' }
      const beginning = opening.then((response) => response.body?.getReader().read())
      beginning.then(
        () => (state.hasBegun = true),
        () => undefined,
      )
      await eventually(() => flood.requests > before)
      await eventually(() => flood.hasBegun && state.hasBegun)
      leaving.abort()
      await opening.catch(() => undefined)
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
