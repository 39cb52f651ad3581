import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  eventsOf,
  ours,
  partsOf,
  withoutUsage,
  theirs,
  usage,
} from '../../../testing/providers/google-recordings'
import { unpackCallId, unpackSignature } from '../../wire/packed-call-id'
import { SseReader } from '../../wire/sse'

const names = (folder: string) =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter(
      (name) => name.endsWith('.chunks.txt') && (folder === ours || name.startsWith('google-')),
    )
    .map((name) => name.replace('.chunks.txt', ''))
    .filter((name) => name !== 'malformed-call')
const streams = [ours, theirs].flatMap((folder) =>
  names(folder).map((name) => [name, eventsOf(folder, name)] as const),
)

describe.each(streams)('S14: the recorded stream %s', (_name, events) => {
  const whole = partsOf(events)

  test('finishes once, at its end, with the tokens counted', () => {
    expect(withoutUsage(whole).filter(({ type }) => type === 'finish')).toHaveLength(1)
    expect(withoutUsage(whole).at(-1)).toMatchObject({ type: 'finish' })
    expect(whole.at(-1)).toMatchObject({ type: 'usage', usage: { flawed: false } })
  })

  test('cut after any event it has the same text up to there, and is not finished', () => {
    for (let count = 0; count < events.length; count++) {
      const cut = partsOf(events.slice(0, count))
      expect(cut).toEqual(whole.slice(0, cut.length))
      expect(cut.some(({ type }) => type === 'finish')).toBeFalse()
    }
  })

  test.each(['\n', '\r\n', '\r'])('cut at any byte, lines ended by %j, it is the same', (end) => {
    const text = events.map((data) => `data: ${data}${end}${end}`).join(`: ping${end}${end}`)
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 7, 1000]) {
      const frames = new SseReader()
      const read: string[] = []
      for (let at = 0; at < bytes.length; at += size) {
        read.push(...frames.push(bytes.subarray(at, at + size)))
      }
      expect(partsOf([...read, ...frames.end()])).toEqual(whole)
    }
  })
})

test('the recordings of the project are all replayed', () => {
  expect(names(ours).length).toBeGreaterThanOrEqual(7)
})

describe.if(existsSync(theirs))('recorded by others', () => {
  test('a call with its signature', () => {
    const [call, args, finish] = withoutUsage(partsOf(eventsOf(theirs, 'google-tool-call')))
    if (call?.type !== 'call') throw new Error('There is no call.')
    expect(call).toMatchObject({ index: 0, name: 'weather' })
    expect(unpackCallId(call.id ?? '')).toMatch(/^call_[0-9a-f]{26}$/)
    expect(call.extra).toEqual({
      extra_content: { google: { thought_signature: unpackSignature(call.id ?? '') } },
    })
    expect(args).toEqual({ type: 'arguments', index: 0, text: '{"location":"San Francisco"}' })
    expect(finish).toEqual({ type: 'finish', reason: 'tool_calls' })
  })

  test('four calls of Vertex, three of one name, one signature', () => {
    const parts = withoutUsage(partsOf(eventsOf(theirs, 'google-stream-no-args-tool-call')))
    const calls = parts.filter((part) => part.type === 'call')
    expect(calls.map(({ name }) => name)).toEqual([
      'read_theme',
      'read_screen',
      'read_screen',
      'read_screen',
    ])
    expect(calls.map(({ extra }) => extra !== undefined)).toEqual([true, false, false, false])
    const args = parts.flatMap((part) => (part.type === 'arguments' ? part.text : []))
    expect(args).toEqual(['{}', '{"id":"A"}', '{"id":"B"}', '{"id":"C"}'])
  })

  test.each([
    ['google-text', 'stop', { input: 9, output: 28, reasoning: 244 }],
    ['google-reasoning', 'stop', { input: 9, output: 29, reasoning: 282 }],
    ['google-tool-call', 'tool_calls', { input: 29, output: 15, reasoning: 893 }],
  ])('a whole answer is a stream of one event: %s', (name, reason, tokens) => {
    const answer: unknown = JSON.parse(readFileSync(join(theirs, `${name}.json`), 'utf8'))
    const parts = partsOf([JSON.stringify(answer)])
    expect(parts.at(-2)).toMatchObject({ type: 'finish', reason })
    expect(parts.at(-1)).toMatchObject({ type: 'usage', usage: usage(tokens) })
  })

  test('thoughts are counted beside the text', () => {
    const parts = partsOf(eventsOf(theirs, 'google-reasoning'))
    expect(parts.at(-1)).toMatchObject({
      type: 'usage',
      usage: usage({ input: 9, output: 29, reasoning: 256 }),
    })
  })
})
