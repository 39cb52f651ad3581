import { expect, test } from 'bun:test'
import { Deadline } from './deadline'
import { UpstreamEvents } from './stream-events'
import type { Answer } from './http/answer'
import { ApiError } from '../errors'
import { SseReader } from '../wire/sse'

const source = {
  provider: 'Theirs',
  secret: null,
  textField: 'messages' as const,
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}

interface Spent {
  ms: number
  kind: string
}

/** A stream that has the same text again and again, half a megabyte at a time. */
function flooded(text: string) {
  const bytes = Buffer.from(text.repeat(Math.ceil((512 * 1024) / text.length)))
  const answer: Answer = {
    status: 200,
    headers: new Headers(),
    read: () => Promise.resolve(bytes),
    text: () => Promise.resolve(''),
    cancel: () => undefined,
  }
  const spent: Spent[] = []
  const share = {
    spend: (ms: number, kind: 'useful' | 'idle') => {
      spent.push({ ms, kind })
      return undefined
    },
    note: (ms: number, kind: 'useful' | 'idle') => void spent.push({ ms, kind }),
  }
  const deadline = new Deadline({ totalMs: 60_000 })
  const events = new UpstreamEvents(answer, { cutter: new SseReader(), share, source, deadline })
  return { events, spent, deadline }
}

/** Reads until so many bytes were looked at, as a stream does whose events make so many chunks each. */
async function read({ events }: ReturnType<typeof flooded>, maxBytes: number, chunksAnEvent = 0) {
  let bytes = 0
  while (bytes < maxBytes) {
    if (events.mustYield) await events.yieldIfDue()
    const piece = await events.read()
    bytes += piece?.byteLength ?? 0
    expect(piece?.byteLength).toBeLessThanOrEqual(16 * 1024)
    const found = events.cut(piece).events.length
    events.count(found, found * chunksAnEvent)
  }
  return bytes
}

const refusal = (reading: Promise<unknown>) =>
  reading.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof ApiError ? [thrown.code, thrown.message] : thrown),
  )

const megabyte = 1024 * 1024

test.each([
  ['comments', ': nothing at all\n', 2],
  ['blank lines', '\n', 2],
  ['lines of no known field', 'a\n', 2],
  ['events without data', 'data:\n\n', 2],
  ['events that make no chunk', 'data: {"choices":[]}\n\n', 8],
])('S2: a stream of nothing but %s ends in an error', async (_what, text, mb) => {
  const stream = flooded(text)
  using _deadline = stream.deadline
  expect(await refusal(read(stream, (mb + 1) * megabyte))).toEqual([
    'provider_error',
    `Theirs sent ${mb} MB of a stream that say nothing.`,
  ])
  const kinds = new Set(stream.spent.map(({ kind }) => kind))
  expect(kinds.has('idle')).toBe(mb === 2)
})

test('S2: the piece with which a stream fails counts as work that served no client', async () => {
  const stream = flooded('data: [[[[\n\n')
  using _deadline = stream.deadline
  const piece = await stream.events.read()
  await Bun.sleep(5)
  stream.events.countFailed()
  expect(stream.spent.map(({ kind }) => kind)).toEqual(['idle'])
  expect(stream.spent[0]?.ms).toBeGreaterThan(4)
  expect(stream.events.workMs).toBe(stream.spent[0]?.ms ?? 0)
  expect(piece?.byteLength).toBeGreaterThan(0)
})

test('S2: a stream that says something goes on, with a comment now and then too', async () => {
  const stream = flooded(`: ping\n\ndata: {"choices":[1]}\n\n`)
  using _deadline = stream.deadline
  await read(stream, 20 * megabyte, 1)
  expect(new Set(stream.spent.map(({ kind }) => kind))).toEqual(new Set(['useful']))
})

test('S2: a stream that always has more lets the event loop turn between its slices', async () => {
  const stream = flooded(`data: ${'x'.repeat(100)}\n\n`)
  using _deadline = stream.deadline
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await read(stream, 64 * megabyte, 1)
  isOver = true
  const workMs = stream.spent.reduce((sum, { ms }) => sum + ms, 0)
  expect(stream.events.workMs).toBeCloseTo(workMs)
  // One turn for each slice of two milliseconds, at the least one for each of the costliest pieces.
  const costliest = Math.max(2, ...stream.spent.map(({ ms }) => ms))
  expect(turns).toBeGreaterThan(workMs / (2 + costliest) - 2)
  expect(turns).toBeGreaterThan(5)
})

test('S2: a stream waits for its owner’s turn, and is ended while it waits', async () => {
  const stream = flooded('data: a\n\n')
  using deadline = stream.deadline
  const share = { spend: () => new Promise<void>(() => undefined), note: () => undefined }
  const answer = { read: () => Promise.resolve(Buffer.from('data: a\n\n')) }
  const asAnswer: Answer = {
    ...answer,
    status: 200,
    headers: new Headers(),
    text: async () => '',
    cancel() {},
  }
  const events = new UpstreamEvents(asAnswer, {
    cutter: new SseReader(),
    share,
    source,
    deadline,
  })
  events.cut(await events.read())
  events.count(1, 1)
  expect(events.mustYield).toBe(true)
  const waiting = events.yieldIfDue()
  deadline.cancel(new Error('left'))
  expect(await waiting.catch((thrown: unknown) => String(thrown))).toBe('Error: left')
})
