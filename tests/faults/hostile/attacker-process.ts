/**
 * The attacker, in its own low-priority process: a provider that floods, and
 * clients. Receives orders by messages; replies with the cost of the attack.
 */
import { connect } from 'node:net'
import { z } from 'zod'
import { bodyOf } from './hostile-bodies'
import { startFloodServer } from './flood-server'
import { Pace } from './pace'

const Order = z.object({
  /** The address of the gateway. */
  url: z.string(),
  path: z.string(),
  key: z.string(),
  /** Concurrent requests. */
  clients: z.number(),
  /** A name known to `bodyOf`. */
  body: z.string(),
  /** Bytes a second of each request; unlimited where absent. */
  bytesPerSecond: z.number().optional(),
  /** The most that the attack does, after the first request of each client; unlimited where absent. */
  load: z.object({ requestsPerSecond: z.number(), floodBytesPerSecond: z.number() }).optional(),
})
export type Order = z.output<typeof Order>

export const Cost = z.object({
  requests: z.number(),
  sentBytes: z.number(),
  /** The part of `sentBytes` that the attacker's own provider sent. */
  floodBytes: z.number(),
  receivedBytes: z.number(),
  /** The number of answers by status. */
  statuses: z.record(z.string(), z.number()),
})
/** The cost of an attack to the attacker. */
export type Cost = z.output<typeof Cost>

const provider = startFloodServer()
const newCost = (): Cost => ({
  requests: 0,
  sentBytes: 0,
  floodBytes: 0,
  receivedBytes: 0,
  statuses: {},
})
let cost = newCost()

/** An attack under way. */
interface Running {
  isOver: boolean
  pace?: Pace
}
let running: Running = { isOver: true }

/** Waits until the pace of the attack allows another request. */
async function awaitTurn(state: Running): Promise<void> {
  const { pace } = state
  if (!pace) return
  while (pace.available() < 1 && !state.isOver) await Bun.sleep(2)
  pace.spend(1)
}

function requestOf({ url, path, key }: Order, body: Buffer): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Sends requests one after the other on a connection, until it is closed or the attack is over. */
function exchange(order: Order, message: Buffer, state: Running): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { hostname, port } = new URL(order.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let head = ''
  const send = async () => {
    head = ''
    await awaitTurn(state)
    if (state.isOver || socket.destroyed) return
    cost.requests += 1
    if (order.bytesPerSecond === undefined) socket.write(message)
    else void trickle(order.bytesPerSecond)
  }
  const trickle = async (bytesPerSecond: number) => {
    const piece = Math.max(1, Math.ceil(bytesPerSecond / 20))
    for (let at = 0; at < message.length && !state.isOver && !socket.destroyed; at += piece) {
      socket.write(message.subarray(at, at + piece))
      cost.sentBytes += piece
      await Bun.sleep(50)
    }
  }
  socket.on('connect', () => void send())
  socket.on('data', (bytes: Buffer) => {
    cost.receivedBytes += bytes.length
    const text = bytes.toString('latin1')
    const isNew = head === ''
    if (head.length < 4096) head += text
    if (isNew) {
      const status = head.slice(9, 12)
      cost.statuses[status] = (cost.statuses[status] ?? 0) + 1
    }
    if (state.isOver) {
      socket.destroy()
      return
    }
    if (/^transfer-encoding: chunked/im.test(head)) {
      if (text.endsWith('0\r\n\r\n')) next(message.length)
      return
    }
    const [, length] = /content-length: (\d+)/i.exec(head) ?? []
    const headEnd = head.indexOf('\r\n\r\n')
    // A stream is read to its end, whatever that is.
    if (length === undefined || headEnd < 0) return
    if (head.length < headEnd + 4 + Number(length)) return
    next(message.length)
  })
  const next = (sentBytes: number) => {
    cost.sentBytes += sentBytes
    if (/^connection: close/im.test(head)) socket.destroy()
    else void send()
  }
  socket.on('error', () => socket.destroy())
  socket.on('close', () => resolve())
  const timer = setInterval(() => state.isOver && socket.destroy(), 20)
  return promise.finally(() => clearInterval(timer))
}

async function attack(order: Order, state: Running): Promise<void> {
  const message = requestOf(order, bodyOf(order.body))
  const client = async () => {
    while (!state.isOver) {
      await exchange(order, message, state)
      await Bun.sleep(1)
    }
  }
  await Promise.all(Array.from({ length: order.clients }, client))
}

function start(order: Order): void {
  const { clients, load } = order
  running = { isOver: false, ...(load && { pace: new Pace(load.requestsPerSecond, clients) }) }
  provider.limitRate(load?.floodBytesPerSecond)
  void attack(order, running)
}

/** Returns the cost since the attack began. */
const costUntilNow = (): Cost => {
  const floodBytes = provider.sent.bytes
  return { ...cost, sentBytes: cost.sentBytes + floodBytes, floodBytes }
}

const Message = z.union([
  z.literal('cost'),
  z.literal('stop'),
  z.object({ prepare: z.string() }),
  z.object({ start: Order }),
])

process.on('message', (received) => {
  const message = Message.parse(received)
  if (message === 'cost') process.send?.(costUntilNow())
  else if (message === 'stop') {
    running.isOver = true
    process.send?.(costUntilNow())
    cost = newCost()
    provider.sent.bytes = 0
  } else if ('prepare' in message) {
    // A body takes a second to build: the attack begins with the first order to start.
    process.send?.({ preparedBytes: bodyOf(message.prepare).length })
  } else start(message.start)
})
process.on('disconnect', () => process.exit())
process.send?.({ providerUrl: provider.url })
