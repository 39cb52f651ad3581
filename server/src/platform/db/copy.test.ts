import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Socket } from 'node:net'
import { copyOut } from './copy'
import { openTestDatabase } from '../../../testing/db/database'
import { openSession, type Session } from './session'
import { eventually } from '../../../testing/eventually'

const stack = new AsyncDisposableStack()
let session: Session
beforeAll(async () => {
  session = stack.use(await openSession(await openTestDatabase(stack), 60_000))
})
afterAll(() => stack.disposeAsync())

const rowBytes = 1_000_000
const rows = 64

/** The socket of the session: what it has read, and whether it reads. */
function socketOf({ client }: Session): Socket {
  const { stream } = client.connection
  if (stream instanceof Socket) return stream
  throw new Error('the session has no socket')
}

test('a slow reader pauses the server, even with few large rows', async () => {
  const socket = socketOf(session)
  const before = socket.bytesRead
  const statement = `copy (select repeat('x', ${rowBytes - 1}) from generate_series(1, ${rows})) to stdout`
  const reader = copyOut(session.client, statement)
  const first = await reader.next()
  await eventually(() => socket.isPaused())
  expect(socket.bytesRead - before).toBeLessThan((rows * rowBytes) / 4)

  const lengths = [first.value?.length]
  for await (const chunk of reader) lengths.push(chunk.length)
  // One row at a time: the reader does not get all waiting rows at once.
  expect(lengths).toEqual(Array.from({ length: rows }, () => rowBytes))
  expect(socket.isPaused()).toBe(false)
})
