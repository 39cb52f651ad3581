import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { defaultHello } from '../../harness/tunnel-agent'
import {
  waitForValue,
  shortHeartbeatSeconds,
  createShortFixture,
  statusOf,
  type GatewayFixture,
} from './fixture'
import type { CreatedGateway } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { recordTimeFigure } from '../../../server/testing/figures'

/** A gateway that says that it is alive, and does not read the data sent to it. */

let fixture: GatewayFixture

beforeAll(async () => {
  fixture = await createShortFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** A text frame as clients send it: its mask is all zeros. */
function frameOf(value: object): Buffer {
  const text = Buffer.from(JSON.stringify(value))
  const head = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 255, 0, 0, 0, 0])
  return Buffer.concat([head, text])
}

const opening = (token: string) =>
  [
    'GET /gateway HTTP/1.1',
    'host: 127.0.0.1',
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version: 13',
    'sec-websocket-protocol: tollgate.gateway.1',
    `authorization: Bearer ${token}`,
    '',
    '',
  ].join('\r\n')

/** Serves, then reads nothing more; `heartbeat` beats on. */
async function deaf({ connectUrl, token }: CreatedGateway) {
  const { hostname, port } = new URL(connectUrl)
  const socket: Socket = connect(Number(port), hostname)
  const state = { text: '', isClosed: false }
  socket.on('data', (bytes) => (state.text += bytes.toString('latin1')))
  socket.on('close', () => (state.isClosed = true))
  socket.on('error', () => undefined)
  socket.write(opening(token))
  await eventually(() => state.text.includes('101 Switching'))
  socket.write(frameOf({ type: 'hello', id: '1', ...defaultHello }))
  await eventually(() => state.text.includes('"welcome"'))
  socket.pause()
  const timer = setInterval(() => socket.write(frameOf({ type: 'heartbeat', id: '1' })), 500)
  const leave = () => {
    clearInterval(timer)
    socket.destroy()
  }
  return { leave }
}

test('is passed over once too much waits for it, and its socket is closed', async () => {
  const owner = await fixture.newCustomer()
  const made = await fixture.createGateway(owner)
  const { leave } = await deaf(made)
  const messages = [{ role: 'user', content: 'x'.repeat(24_000_000) }]
  const heartbeatMs = shortHeartbeatSeconds * 1000
  const large = recordTimeFigure(
    'an unread socket is closed',
    { atLeast: 2 * heartbeatMs, atMost: 4 * heartbeatMs },
    () => fixture.chat(owner, { messages }),
  )
  // Those that come before the large one wait behind it, as it does.
  const codes: unknown[] = []
  const small = setInterval(() => {
    void fixture.chat(owner).then(({ error }) => codes.push(error.code))
  }, 200)
  await eventually(() => codes.includes('gateway_unavailable'))
  clearInterval(small)
  const { status, error } = await large
  expect([status, error.code]).toEqual([502, 'connection_failed'])
  await waitForValue(() => statusOf(fixture, owner, made.id), 'offline')
  leave()
})
