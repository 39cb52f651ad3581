import { readFileSync } from 'node:fs'
import { recordFigure } from '../../../server/testing/figures'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

setDefaultTimeout(120_000)

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
}

const chunkOf = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** What an upstream floods with: a first event, and what follows it without an end. */
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
  let flood: keyof typeof floods = 'events'
  let requests = 0
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
        socket.data = { rest, piece: chunkOf(piece) }
        pump(socket)
      },
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    with: (kind: keyof typeof floods) => void (flood = kind),
    get requests() {
      return requests
    },
    cut: () => sockets.forEach((socket) => socket.terminate()),
    [Symbol.dispose]: () => server.stop(true),
  }
}

let flood: ReturnType<typeof startFlood>
let gateway: Gateway
let customer: Customer

beforeAll(async () => {
  flood = startFlood()
  gateway = await startGateway({
    // Its processor time is measured.
    process: 'own',
    // Groq bills the whole of an answer that is left.
    environment: { GROQ_API_KEY: 'gsk_0123456789abcdef', GROQ_BASE_URL: flood.url },
  })
  customer = await gateway.customer()
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  flood[Symbol.dispose]()
})

/** Milliseconds of processor time that the gateway has had. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  const ticks = Number(fields?.[11]) + Number(fields?.[12])
  return ticks * 10
}

/** Opens a stream, and leaves once its first bytes are there, or a little later where none come. */
async function leaveStream(): Promise<void> {
  const before = flood.requests
  const leaving = new AbortController()
  const opening = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'groq/llama-3.1-8b-instant',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  await eventually(() => flood.requests > before)
  const beginning = opening.then((response) => response.body?.getReader().read())
  await Promise.race([beginning.catch(() => undefined), Bun.sleep(500)])
  leaving.abort()
  await opening.catch(() => undefined)
}

test.each(['events', 'comments', 'compressed', 'compressed blanks'] as const)(
  'finding S11: a drain ends with its upstream and is bounded in processor time: a flood of %s',
  async (kind) => {
    flood.with(kind)
    for (let k = 0; k < 3; k++) await leaveStream()
    await Bun.sleep(1000)
    const { requests } = flood
    flood.cut()
    // What is on its way is read; less than one account may have for all of its drains.
    await Bun.sleep(2000)
    const before = cpuMs()
    await Bun.sleep(6000)
    recordFigure(
      `finding S11: 6 s after a flood of ${kind} ended, the gateway still used`,
      cpuMs() - before,
      {
        unit: 'ms of CPU',
        atMost: 2000,
      },
    )
    // No drain asks its upstream again, and the gateway answers.
    expect(flood.requests).toBe(requests)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  },
)
