import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Socket } from 'bun'
import { Pace } from './pace'

const readCertificate = (name: string) =>
  readFileSync(join(import.meta.dir, '../../harness/certificates', name))

/** The answer of a hostile provider: a head, then the same bytes without end, or once. */
interface Behaviour {
  head: string
  bytes: Buffer
  /** Sent once, first. */
  first?: Buffer
  isEndless: boolean
}

const half = 512 * 1024
const repeated = (text: string) => Buffer.from(text.repeat(Math.ceil(half / text.length)))

const status = 'HTTP/1.1 200 OK\r\n'
const events = `${status}content-type: text/event-stream\r\nconnection: close\r\n`
const json = `${status}content-type: application/json\r\n`

const chunkOf = (content: string) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  })}\n\n`

const opening = Buffer.from(chunkOf('a'))

/** A stream that begins correctly, and then repeats the same bytes. */
const flood = (text: string): Behaviour => ({
  head: `${events}\r\n`,
  first: opening,
  bytes: repeated(text),
  isEndless: true,
})

const whole = (body: Buffer, encoding = ''): Behaviour => ({
  head: `${json}${encoding}content-length: ${body.length}\r\n\r\n`,
  bytes: body,
  isEndless: false,
})

/** A gzip stream of many members, each a thousand times as long when decompressed. */
const bomb = (text: string): Behaviour => ({
  head: `${events}content-encoding: gzip\r\n\r\n`,
  first: gzipSync(opening),
  // One endless member would do as well; this one repeats.
  bytes: gzipSync(Buffer.alloc(64 * 1024 * 1024, text)),
  isEndless: false,
})

const tinyChunks = (): Behaviour => ({
  head: `${events}transfer-encoding: chunked\r\n\r\n`,
  first: Buffer.from(`${opening.length.toString(16)}\r\n${opening.toString()}\r\n`),
  bytes: repeated('1\r\n\n\r\n'),
  isEndless: true,
})

/** Behaviours by the name of the requested model. */
const behaviours: Readonly<Record<string, () => Behaviour>> = {
  comments: () => flood(`: ${'x'.repeat(60)}\n`),
  'short-comments': () => flood(':\n'),
  'blank-lines': () => flood('\n'),
  'unknown-lines': () => flood('a\n'),
  'empty-events': () => flood('data:\n\n'),
  'events-without-content': () => flood('data: {"choices":[]}\n\n'),
  'tiny-chunks': tinyChunks,
  'valid-chunks': () => flood(chunkOf('a ')),
  'gzip-blank-lines': () => bomb('\n'),
  'gzip-comments': () => bomb(`: ${'x'.repeat(60)}\n`),
  'gzip-whole': () =>
    whole(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), 'content-encoding: gzip\r\n'),
  'nested-answer': () => whole(Buffer.from(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`)),
  'many-objects-answer': () => whole(Buffer.from(`{"choices":[${'{},'.repeat(5_000_000)}{}]}`)),
  'many-objects-event': () => flood(`data: {"choices":[],"x":[${'{},'.repeat(300_000)}{}]}\n\n`),
}

export const behaviourNames = Object.keys(behaviours)

interface Peer {
  text: string
  behaviour: Behaviour | undefined
  pending: Buffer
}

const none = Buffer.alloc(0)
const made = new Map<string, Behaviour>()

function behaviourOf(name: string): Behaviour | undefined {
  const known = made.get(name)
  if (known) return known
  const behaviour = behaviours[name]?.()
  if (behaviour) made.set(name, behaviour)
  return behaviour
}

/** Writes floods to sockets as fast as they are read, or at a limited rate. */
class FloodWriter {
  readonly sent = { bytes: 0 }
  #pace: Pace | undefined
  readonly #waiting = new Set<Socket<Peer>>()

  /** Limits the bytes a second of all sockets together; undefined limits nothing. */
  limitRate(bytesPerSecond: number | undefined): void {
    this.#pace = bytesPerSecond === undefined ? undefined : new Pace(bytesPerSecond, 0)
  }

  write(socket: Socket<Peer>): void {
    const { data } = socket
    while (data.pending.length > 0) {
      const allowed = this.#pace ? Math.floor(this.#pace.available()) : data.pending.length
      if (allowed <= 0) {
        this.#writeLater(socket)
        return
      }
      const taken = socket.write(data.pending.subarray(0, allowed))
      if (taken <= 0) return
      this.#pace?.spend(taken)
      this.sent.bytes += taken
      data.pending = data.pending.subarray(taken)
      if (data.pending.length === 0 && data.behaviour?.isEndless)
        data.pending = data.behaviour.bytes
    }
  }

  #writeLater(socket: Socket<Peer>): void {
    this.#waiting.add(socket)
    if (this.#waiting.size > 1) return
    setTimeout(() => {
      const sockets = [...this.#waiting]
      this.#waiting.clear()
      for (const waiting of sockets) this.write(waiting)
    }, 5)
  }
}

/** Starts a customer's provider that floods its clients. `sent.bytes` counts the bytes that were read. */
export function startFloodServer() {
  for (const name of behaviourNames) behaviourOf(name)
  const writer = new FloodWriter()
  const server = Bun.listen<Peer>({
    hostname: '127.0.0.2',
    port: 0,
    tls: { key: readCertificate('local.key'), cert: readCertificate('local.pem') },
    socket: {
      open(socket) {
        socket.data = { text: '', behaviour: undefined, pending: none }
      },
      data(socket, bytes) {
        const { data } = socket
        data.text += bytes.toString('latin1')
        const [, length = '0'] = /content-length: (\d+)/i.exec(data.text) ?? []
        const headEnd = data.text.indexOf('\r\n\r\n')
        if (headEnd < 0 || data.text.length < headEnd + 4 + Number(length)) return
        const [, name = ''] = /"model":"([^"]+)"/.exec(data.text) ?? []
        const behaviour = behaviourOf(name)
        data.text = ''
        if (!behaviour) {
          socket.end()
          return
        }
        const { head, first = none, bytes: body } = behaviour
        data.behaviour = behaviour
        data.pending = Buffer.concat([Buffer.from(head), first, body])
        writer.write(socket)
      },
      drain: (socket) => writer.write(socket),
      error() {},
    },
  })
  return {
    url: `https://127.0.0.2:${server.port}`,
    sent: writer.sent,
    limitRate: (bytesPerSecond: number | undefined) => writer.limitRate(bytesPerSecond),
  }
}
