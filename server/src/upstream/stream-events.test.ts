import { expect, test } from 'bun:test'
import { Deadline } from './deadline'
import { HeldEvent, LargeEvents } from './large-events'
import { UpstreamEvents } from './stream-events'
import type { Answer } from './http/answer'
import { ApiError } from '../errors'
import { systemClock } from '../platform/clock'

const source = {
  provider: 'Theirs',
  secret: null,
  textField: 'messages' as const,
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}

const protocol = { framing: 'sse' as const, source }

interface Spent {
  ms: number
  kind: string
}

/**
 * A stream that has the same text again and again, half a megabyte at a time. Its clock moves as `pass` says, and by
 * `pieceMs` with each piece.
 */
function flooded(
  text: string,
  {
    pieceMs = 0,
    onSpent = (_ms: number) => {},
  }: { pieceMs?: number; onSpent?: (ms: number) => void } = {},
) {
  const bytes = Buffer.from(text.repeat(Math.ceil((512 * 1024) / text.length)))
  const answer: Answer = {
    status: 200,
    headers: new Headers({ 'content-type': 'text/event-stream' }),
    read: () => Promise.resolve(bytes),
    text: () => Promise.resolve(''),
    cancel: () => undefined,
  }
  const spent: Spent[] = []
  const share = {
    spend: (ms: number, kind: 'useful' | 'idle') => {
      spent.push({ ms, kind })
      onSpent(ms)
      return undefined
    },
    note: (ms: number, kind: 'useful' | 'idle') => void spent.push({ ms, kind }),
  }
  const deadline = new Deadline({ totalMs: 60_000 })
  const largeEvents = new LargeEvents()
  let nowMs = 1000
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const options = { protocol, share, largeEvents, owner: 'acc_1', deadline, clock }
  const events = new UpstreamEvents(answer, options)
  const pass = (ms = pieceMs) => void (nowMs += ms)
  return { events, spent, deadline, largeEvents, pass }
}

/** Reads until so many bytes were looked at, as a stream does whose events make so many chunks each. */
async function read(
  { events, pass }: ReturnType<typeof flooded>,
  maxBytes: number,
  chunksAnEvent = 0,
) {
  let bytes = 0
  while (bytes < maxBytes) {
    if (events.mustYield) await events.yieldIfDue()
    const piece = await events.read()
    bytes += piece?.byteLength ?? 0
    expect(piece?.byteLength).toBeLessThanOrEqual(16 * 1024)
    const found = events.cut(piece).events.length
    pass()
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
  ['comments', ': nothing at all\n', 2, true],
  ['blank lines', '\n', 2, true],
  ['lines of no known field', 'a\n', 2, true],
  ['events without data', 'data:\n\n', 2, true],
  ['events that make no chunk', 'data: {"choices":[]}\n\n', 8, false],
  ['large events that make no chunk', `data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`, 8, true],
  [
    'comments within a large event',
    `data: ${'x'.repeat(1024 * 1024)}\n${': nothing\n'.repeat(300_000)}`,
    2,
    true,
  ],
])('S2: a stream of nothing but %s ends in an error', async (...row) => {
  const [, text, mb, isIdle] = row
  const stream = flooded(text)
  using _deadline = stream.deadline
  expect(await refusal(read(stream, (mb + 5) * megabyte))).toEqual([
    'provider_error',
    `Theirs sent ${mb} MB of a stream without content.`,
  ])
  const kinds = new Set(stream.spent.map(({ kind }) => kind))
  expect(kinds.has('idle')).toBe(isIdle)
})

test('finding V11: a large event counts in the budget of its owner until it is complete', async () => {
  const stream = flooded(`data: ${'x'.repeat(3 * megabyte)}\n\n`)
  using _deadline = stream.deadline
  await read(stream, 2.5 * megabyte, 1)
  expect(stream.largeEvents.bytes).toBeWithin(2 * megabyte, 3 * megabyte)
  expect(new Set(stream.spent.slice(70).map(({ kind }) => kind))).toEqual(new Set(['useful']))
  await read(stream, megabyte, 1)
  expect(stream.largeEvents.bytes).toBe(0)
  await read(stream, 2 * megabyte, 1)
  stream.events.release()
  expect(stream.largeEvents.bytes).toBe(0)
})

test('finding V11: the memory of a large event is counted, not its characters', async () => {
  const stream = flooded(`data: ${'鯨'.repeat(3 * megabyte)}\n\n`)
  using _deadline = stream.deadline
  // Three bytes each on the wire, two in memory.
  await read(stream, 6 * megabyte, 1)
  expect(stream.largeEvents.bytes).toBeWithin(3.9 * megabyte, 4.1 * megabyte)
  stream.events.release()
  expect(stream.largeEvents.bytes).toBe(0)
})

test('finding V11: an owner has half of the memory that others leave for large events', () => {
  const events = new LargeEvents(12 * megabyte)
  const held = ['a', 'a', 'b', 'c'].map((owner) => new HeldEvent(events, owner))
  const [first, second, ofB, ofC] = held
  const full = expect.objectContaining({ code: 'gateway_unavailable' })
  first?.resize(4 * megabyte)
  // Not counted: it is small.
  second?.resize(megabyte)
  expect(events.bytes).toBe(4 * megabyte)
  second?.resize(2 * megabyte)
  expect(() => second?.resize(2.5 * megabyte)).toThrow(full)
  expect(() => ofB?.resize(3.5 * megabyte)).toThrow(full)
  ofB?.resize(3 * megabyte)
  // However much the others hold, one more owner gets some.
  ofC?.resize(1.5 * megabyte)
  expect(() => ofC?.resize(2 * megabyte)).toThrow(full)
  first?.resize(0)
  ofC?.resize(3.5 * megabyte)
  for (const each of held) each.resize(0)
  expect(events.bytes).toBe(0)
})

test('finding V9: comments are progress, half of a line is not', async () => {
  const progressed: number[] = []
  const pieces = [': keep', 'alive\n\n', 'data: {"a"', ':1}\n\n']
  const deadline = {
    aborted: false,
    reason: undefined,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    progress: () => void progressed.push(pieces.length),
  }
  const answer: Answer = {
    status: 200,
    headers: new Headers({ 'content-type': 'text/event-stream' }),
    read: async () => Buffer.from(pieces.shift() ?? ''),
    text: async () => '',
    cancel() {},
  }
  const events = new UpstreamEvents(answer, {
    protocol,
    share: { spend: () => undefined, note: () => undefined },
    largeEvents: new LargeEvents(),
    owner: 'acc_1',
    deadline,
  })
  while (pieces.length > 0) events.cut(await events.read())
  expect(progressed).toEqual([2, 0])
})

test('S2: the piece with which a stream fails counts as work that served no client', async () => {
  const stream = flooded('data: [[[[\n\n')
  using _deadline = stream.deadline
  const piece = await stream.events.read()
  stream.pass(5)
  stream.events.countFailed()
  expect(stream.spent.map(({ kind }) => kind)).toEqual(['idle'])
  // And what a piece costs beside reading it.
  expect(stream.spent[0]?.ms).toBeWithin(5.01, 5.1)
  expect(stream.events.workMs).toBe(stream.spent[0]?.ms ?? 0)
  expect(piece?.byteLength).toBeGreaterThan(0)
})

test('S2: a stream that says something goes on, with a comment now and then too', async () => {
  const stream = flooded(`: ping\n\ndata: {"choices":[1]}\n\n`)
  using _deadline = stream.deadline
  await read(stream, 20 * megabyte, 1)
  expect(new Set(stream.spent.map(({ kind }) => kind))).toEqual(new Set(['useful']))
})

test.each([
  ['is counted, in chunks', 1, 0],
  ['is measured', 0, 0.5],
])(
  'S2: a stream that always has more lets the event loop turn between its slices: its work %s',
  async (...row) => {
    const [, chunksAnEvent, pieceMs] = row
    let turns = 0
    /** The work done in each turn, in milliseconds. */
    const workMs = new Map<number, number>()
    const onSpent = (ms: number) => void workMs.set(turns, (workMs.get(turns) ?? 0) + ms)
    const stream = flooded(`data: ${'x'.repeat(100)}\n\n`, { pieceMs, onSpent })
    using _deadline = stream.deadline
    let isOver = false
    const turn = () => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    await read(stream, 4 * megabyte, chunksAnEvent)
    isOver = true
    expect(stream.events.workMs).toBeCloseTo(stream.spent.reduce((sum, { ms }) => sum + ms, 0))
    expect(stream.events.workMs).toBeGreaterThan(pieceMs * stream.spent.length)
    // A slice of two milliseconds, and the piece with which it is over: less than one.
    expect(Math.max(...workMs.values())).toBeWithin(2, 3)
  },
)

test('S2: a stream waits for its owner’s turn, and is ended while it waits', async () => {
  const stream = flooded('data: a\n\n')
  using deadline = stream.deadline
  const share = { spend: () => new Promise<void>(() => undefined), note: () => undefined }
  const answer = { read: () => Promise.resolve(Buffer.from('data: a\n\n')) }
  const asAnswer: Answer = {
    ...answer,
    status: 200,
    headers: new Headers({ 'content-type': 'text/event-stream' }),
    text: async () => '',
    cancel() {},
  }
  const events = new UpstreamEvents(asAnswer, {
    protocol,
    share,
    largeEvents: new LargeEvents(),
    owner: 'acc_1',
    deadline,
  })
  events.cut(await events.read())
  events.count(1, 1)
  expect(events.mustYield).toBe(true)
  const waiting = events.yieldIfDue()
  deadline.cancel(new Error('left'))
  expect(await waiting.catch((thrown: unknown) => String(thrown))).toBe('Error: left')
})
