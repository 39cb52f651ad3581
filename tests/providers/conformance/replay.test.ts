import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { hasFixtures } from '../../harness/fixtures'
import { boundaries, replayAll, replayer, replays } from './replay'
import { createFixture, type Fixture } from './fixture'
import { sampled } from '../../../server/testing/depth'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

if (!hasFixtures) console.log('The folder of fixtures is absent: only own recordings are replayed.')

/** Cuts so many bytes apart, begun at each byte in turn, are cuts at every byte. */
const apart = 97

const writings: [string, (text: string) => string][] = [
  ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['with CR', (text) => text.replaceAll('\n', '\r')],
  ['with comments between events', (text) => text.replaceAll('\n\n', '\n\n: ping\n\n:\n')],
  ['with comments inside events', (text) => text.replaceAll(/^data: \{/gm, ': note\ndata: {')],
  ['with a byte order mark', (text) => `\u{FEFF}${text}`],
  ['without a space after the colon', (text) => text.replaceAll(/^data: /gm, 'data:')],
  [
    'with ids, names and retries',
    (text) => text.replaceAll(/^data: \{/gm, 'id: 7\nretry: 9\ndata: {'),
  ],
]

/** What ends a choice; the recordings have one each. */
const finish = /"finish_reason":\s*"\w+"/

describe.each(replays().map((replay) => [replay.name, replay] as const))('%s', (_name, replay) => {
  test('arrives whole', async () => {
    const seen = await (await replayer(fixture, replay))()
    expect(seen).toMatchObject({ status: 200, isDone: true })
    expect(seen.error).toBeUndefined()
    expect(seen.events.length).toBeGreaterThan(1)
  })

  test('S14: written in another way, it arrives the same', async () => {
    const replayed = await replayer(fixture, replay)
    const whole = await replayed()
    for (const [how, write] of writings) {
      const seen = await replayed({ body: write(replay.body.toString()) })
      expect({ how, seen }).toEqual({ how, seen: whole })
    }
  })

  test('S14: cut at every byte, it arrives the same', async () => {
    const replayed = await replayer(fixture, replay)
    const whole = await replayed()
    const { length } = replay.body
    const step = Math.max(apart, Math.ceil(length / 40))
    const writings = Array.from({ length: Math.min(step, length) }, (_, first) => {
      const count = Math.ceil((length - first) / step)
      return { cuts: Array.from({ length: count }, (_cut, index) => first + index * step) }
    })
    const tried = sampled(writings, 60)
    for (const [index, seen] of (await replayAll(replayed, tried)).entries()) {
      const { cuts } = tried[index] ?? {}
      if (!Bun.deepEquals(seen, whole)) expect({ cuts, seen }).toEqual({ cuts, seen: whole })
    }
  })

  test('U08: ended before its finish, it is an error and never a success; behind it, finding P10, it is whole', async () => {
    const replayed = await replayer(fixture, replay)
    const ends = boundaries(replay.body)
    const cut = await replayAll(
      replayed,
      ends.map((end) => ({ body: replay.body.subarray(0, end) })),
    )
    for (const [number, { isDone, error }] of cut.entries()) {
      const end = ends[number] ?? 0
      const hasFinished = finish.test(replay.body.subarray(0, end).toString())
      expect({ end, isDone }).toEqual({ end, isDone: hasFinished })
      if (hasFinished) expect(error).toBeUndefined()
      else expect(error).toMatchObject({ code: 'provider_error', details: { provider: 'fake' } })
    }
  })
})

test('S14: in single bytes, it arrives the same', async () => {
  const small = replays().filter(({ body }) => body.length < 1300)
  for (const replay of sampled(small, 4)) {
    const replayed = await replayer(fixture, replay)
    const cuts = Array.from(replay.body, (_byte, index) => index)
    expect(await replayed({ cuts })).toEqual(await replayed())
  }
})

test('S14: the smallest one, cut at one byte at a time', async () => {
  const [replay] = replays().toSorted((a, b) => a.body.length - b.body.length)
  if (!replay) throw new Error('There are no recordings.')
  const replayed = await replayer(fixture, replay)
  const whole = await replayed()
  const writings = Array.from(replay.body, (_byte, cut) => ({ cuts: [cut] }))
  for (const seen of await replayAll(replayed, writings)) expect(seen).toEqual(whole)
})
