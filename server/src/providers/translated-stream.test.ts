import { describe, expect, test } from 'bun:test'
import { TranslatedStream } from './translated-stream'
import { estimateUsage } from '../metering/estimate'
import type { Part } from '../wire/answer-part'
import type { Usage } from '../wire/usage'

/** Told by a provider on its way. */
const usagePart = (output: number): Part => ({
  type: 'usage',
  usage: { ...estimateUsage({ promptTokens: 3 }), output, estimated: false },
})
const text = (value: string): Part => ({ type: 'text', text: value })

/** A stream whose events were these parts, one each, as far as they were read. */
function reading(wantsUsage: boolean, parts: readonly Part[]) {
  const stream = new TranslatedStream((data) => parts.slice(Number(data), Number(data) + 1), {
    identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake/m' },
    source: {
      provider: 'fake',
      secret: null,
      textField: 'messages',
      wasSent: () => false,
      contextLength: null,
      maxOutputTokens: null,
    },
    wantsUsage,
    legacyFunctions: false,
    newCallId: () => 'call_1',
    hiddenTokens: () => Infinity,
    estimate: (output) => estimateUsage({ promptTokens: 7, output }),
  })
  for (const position of parts.keys()) stream.next(String(position))
  return stream
}

const parsed = (chunks: readonly string[]): unknown[] => chunks.map((chunk) => JSON.parse(chunk))
const length = { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }
const nine = 'one two three four five six seven eight nine'

describe('M02: a translated stream that is cut', () => {
  test('finishes with length and reports the paid usage', () => {
    const stream = reading(true, [text(nine)])
    expect(stream.tokensAtLeast()).toBe(9)
    expect(parsed(stream.cut(8))).toMatchObject([
      length,
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 8, total_tokens: 15 } },
    ])
    expect(stream.usage()).toMatchObject({ input: 7, output: 8, estimated: true })
  })

  test('in the middle of a call ends without a finished call', () => {
    const stream = reading(false, [
      { type: 'call', index: 0, id: 'a', name: 'look_up' },
      { type: 'arguments', index: 0, text: '{"city":"Ber' },
    ])
    expect(parsed(stream.cut(8))).toMatchObject([length])
  })

  test('cut before any text still has a role', () => {
    expect(parsed(reading(false, []).cut(8))).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      length,
    ])
  })

  const counts: [string, Part[], Partial<Usage>][] = [
    ['keeps to the counts of its provider', [text(nine), usagePart(9)], { input: 3, output: 9 }],
    ['counts the text since then', [usagePart(1), text(nine)], { output: 8, estimated: true }],
    ['pays at most for its text', [usagePart(1), text('one two')], { output: 2 }],
  ]
  test.each(counts)('%s', (_name, parts, usage) => {
    const stream = reading(false, parts)
    stream.cut(8)
    expect(stream.usage()).toMatchObject(usage)
  })

  test('adds nothing to a whole answer', () => {
    const stream = reading(true, [text('one'), { type: 'finish', reason: 'stop' }, usagePart(1)])
    expect(parsed(stream.cut(8))).toMatchObject([{ usage: { completion_tokens: 1 } }])
  })
})
