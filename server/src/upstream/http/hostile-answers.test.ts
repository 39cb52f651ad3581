import { heapStats } from 'bun:jsc'
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { readBody, type Answer } from './answer'
import { polled, requestTo, timers, turn } from '../../../testing/http/raw-peers'
import { Transport } from './transport'
import { cutBytes, mutateAnswer, SeededRandom } from '../../../testing/http-vectors/mutate-answer'
import { readAnswer } from '../../../testing/http-vectors/read-answer'
import { vectors } from '../../../testing/http-vectors/vectors'
import { eventually } from '../../../testing/eventually'
import { recordFigure } from '../../../testing/figures'

/**
 * Answers that are mutated vectors. `HTTP_FUZZ_RUNS` is their number; `FUZZ_SEED` says which: the same ones
 * wherever it is not set, others with `npm run fuzz`.
 */
const runs = Number(process.env['HTTP_FUZZ_RUNS'] ?? 1000)
const seed = Number(process.env['FUZZ_SEED'] ?? 20261123)

// For a machine that does much else; each takes milliseconds there.
setDefaultTimeout(120_000 + runs * 100)

/** Long ones are tried by themselves, and would only make this slow. */
const corpus = vectors.map(({ bytes }) => bytes).filter((bytes) => bytes.length < 2000)
const endings = ['open', 'open', 'fin', 'reset'] as const

/** A server that sends these bytes to those who ask for them, and answers all others with what they asked for. */
class HostileServer {
  readonly #server: Server
  readonly sockets = new Set<Socket>()
  /** What is sent next, by the lane that asks for it. */
  readonly hostile = new Map<string, { pieces: string[]; ending: string; sent: () => void }>()
  url = ''

  constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => void this.#answer(socket, bytes.toString('latin1')))
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    this.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
  }

  async #answer(socket: Socket, text: string): Promise<void> {
    const path = /^POST (\S+) HTTP\/1\.1\r\n/.exec(text)?.[1] ?? 'nothing that was sent'
    const hostile = this.hostile.get(path)
    if (!hostile) {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`)
      return
    }
    for (const piece of hostile.pieces) {
      socket.write(piece, 'latin1')
      await polled()
    }
    if (hostile.ending === 'fin') socket.end()
    if (hostile.ending === 'reset') socket.resetAndDestroy()
    hostile.sent()
  }
}

const server = new HostileServer()
afterAll(() => server.close())

/** A client, and connections that no other shares: the next request takes the one that the last one left. */
class Lane {
  readonly #transport: Transport
  readonly #owner: string

  constructor(transport: Transport, owner: string) {
    this.#transport = transport
    this.#owner = owner
  }

  send(path: string, signal?: AbortSignal): Promise<Answer> {
    const request = requestTo(server.url + path, signal ? { signal } : {})
    return this.#transport.send(request, { ...timers, owner: this.#owner })
  }
}

/** A good request, whose answer is its own path. */
async function expectGood(lane: Lane, path: string, after: string): Promise<void> {
  const answer = await lane.send(path)
  expect([after, answer.status, await answer.text()]).toEqual([after, 200, path])
}

/**
 * Bytes in pieces. Half of them are cut where the answer is whole for the client, and have more behind it, which
 * comes on a connection that is idle.
 */
async function piecesOf(bytes: string, random: SeededRandom): Promise<string[]> {
  if (random.below(2) === 0) return cutBytes(bytes, 4, random)
  const { bytes: length } = await readAnswer(bytes.split(''), 'open')
  const behind = bytes.slice(length) || mutateAnswer(corpus, random)
  return [bytes.slice(0, length), ...cutBytes(behind, 2, random)]
}

const readAll = async (answer: Answer) => void (await readBody(answer))

interface Hostile {
  bytes: string
  /** Decides how it is cut, and how its connection ends. */
  random: SeededRandom
}

/** Asks for a hostile answer, takes what comes of it, and gives up once all was sent. */
async function takeHostile(lane: Lane, path: string, hostile: Hostile) {
  const sent = Promise.withResolvers<void>()
  const { bytes, random } = hostile
  const pieces = await piecesOf(bytes, random)
  server.hostile.set(path, { pieces, ending: random.pick(endings), sent: () => sent.resolve() })
  const controller = new AbortController()
  const taken = lane.send(path, controller.signal).then(readAll)
  const settled = taken.catch(() => undefined)
  await sent.promise
  await polled()
  controller.abort(new Error('all was sent'))
  await settled
  server.hostile.delete(path)
}

test(`after any of ${runs} hostile answers the next requests have their own, by the same client`, async () => {
  console.log(`FUZZ_SEED=${seed} HTTP_FUZZ_RUNS=${runs}`)
  await server.listen()
  const transport = new Transport()
  const lanes = [0, 1, 2, 3].map(async (at) => {
    const random = new SeededRandom(seed + at)
    const lane = new Lane(transport, `lane ${at}`)
    for (let count = 0; count < runs / 4; count++) {
      const bytes = mutateAnswer(corpus, random)
      const after = `FUZZ_SEED=${seed}, lane ${at}, ${count}: ${JSON.stringify(bytes)}`
      await takeHostile(lane, `/hostile/${at}/${count}`, { bytes, random })
      await expectGood(lane, `/good/${at}/${count}`, after)
      await expectGood(lane, `/again/${at}/${count}`, after)
      // Each lane has one connection, and one that is just being closed.
      expect([after, server.sockets.size < 40]).toEqual([after, true])
    }
  })
  await Promise.all(lanes)
  // What is left are idle ones, a lane one at most.
  await eventually(() => server.sockets.size <= 4)
})

test(`the outcome of ${runs * 2} hostile answers does not depend on where their bytes are cut`, async () => {
  const random = new SeededRandom(seed + 100)
  for (let count = 0; count < runs * 2; count++) {
    if (count % 1000 === 0) await turn()
    const bytes = mutateAnswer(corpus, random)
    const ending = random.pick(endings)
    const { outcome } = await readAnswer([bytes], ending)
    const cut = cutBytes(bytes, 12, random)
    const { outcome: other } = await readAnswer(cut, ending)
    // Compared without `expect`, which would keep each of a million.
    if (Bun.deepEquals(outcome, other)) continue
    expect({ seed, count, cut, outcome: other }).toEqual({ seed, count, cut, outcome })
  }
})

test('a client keeps nothing of a hostile answer', async () => {
  const random = new SeededRandom(seed + 200)
  const lane = new Lane(new Transport(), 'one')
  const answers = runs / 4
  const pass = async (from: number) => {
    for (let count = from; count < from + answers; count++) {
      await takeHostile(lane, `/kept/${count}`, { bytes: mutateAnswer(corpus, random), random })
    }
    Bun.gc(true)
    const { Promise: promises = 0, Uint8Array: pieces = 0 } = heapStats().objectTypeCounts
    return { promises, pieces, heapMb: process.memoryUsage().heapUsed / 2 ** 20 }
  }
  const before = await pass(0)
  const after = await pass(answers)
  // Those that read bytes one by one, beside the client, leave one now and then.
  expect(after.promises - before.promises).toBeLessThan(answers / 2)
  expect(after.pieces - before.pieces).toBeLessThan(answers / 2)
  const grownMb = after.heapMb - before.heapMb
  recordFigure('heap after hostile answers', grownMb, { unit: 'MB', atMost: 16 })
  await eventually(() => server.sockets.size <= 5)
})
