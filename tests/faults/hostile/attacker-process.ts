/**
 * The attacker, in its own low-priority process: a provider that floods, and
 * clients. Receives orders by messages; replies with the cost of the attack.
 */
import { connect } from 'node:net'
import { z } from 'zod'
import { bodyOf } from './hostile-bodies'
import { startFloodServer } from './flood-server'

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
})
export type Order = z.output<typeof Order>

export const Cost = z.object({
  requests: z.number(),
  sentBytes: z.number(),
  receivedBytes: z.number(),
  /** The number of answers by status. */
  statuses: z.record(z.string(), z.number()),
})
/** The cost of an attack to the attacker. */
export type Cost = z.output<typeof Cost>

const provider = startFloodServer()
const newCost = (): Cost => ({ requests: 0, sentBytes: 0, receivedBytes: 0, statuses: {} })
let cost = newCost()
let running: { isOver: boolean } = { isOver: true }

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
function exchange(order: Order, message: Buffer, state: { isOver: boolean }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { hostname, port } = new URL(order.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let head = ''
  const send = () => {
    cost.requests += 1
    head = ''
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
  socket.on('connect', send)
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
    else send()
  }
  socket.on('error', () => socket.destroy())
  socket.on('close', () => resolve())
  const timer = setInterval(() => state.isOver && socket.destroy(), 20)
  return promise.finally(() => clearInterval(timer))
}

async function attack(order: Order, state: { isOver: boolean }): Promise<void> {
  const message = requestOf(order, bodyOf(order.body))
  const client = async () => {
    while (!state.isOver) {
      await exchange(order, message, state)
      await Bun.sleep(1)
    }
  }
  await Promise.all(Array.from({ length: order.clients }, client))
}

process.on('message', (message) => {
  if (message === 'stop') {
    running.isOver = true
    const sentBytes = cost.sentBytes + provider.sent.bytes
    process.send?.({ ...cost, sentBytes })
    cost = newCost()
    provider.sent.bytes = 0
    return
  }
  running = { isOver: false }
  void attack(Order.parse(message), running)
})
process.on('disconnect', () => process.exit())
process.send?.({ providerUrl: provider.url })
