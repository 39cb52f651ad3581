import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { call, chatOf, target } from '../../../testing/providers/google-chat'
import { google } from './index'
import type { GeminiPart } from './content'
import type { GoogleTurn } from './history'
import { ApiError } from '../../errors'
import { vertexGemini } from '../vertex'

const id = fc.constantFrom('1', '2', '3', 'call_x', '1__thought__YWI', '__thought__')
const anyText = fc.oneof(fc.constantFrom('', ' ', '\n', 'a'), fc.string({ unit: 'grapheme' }))
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: anyText }),
  fc.constantFrom(
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    { type: 'image_url', image_url: { url: 'https://a.example/x.png' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
    { type: 'file', file: { file_id: 'f' } },
    { type: 'refusal', refusal: 'No.' },
  ),
)
const content = fc.oneof(
  { weight: 3, arbitrary: anyText },
  fc.array(part, { minLength: 1, maxLength: 3 }),
)
const args = fc.oneof(
  fc.constantFrom('', '{}', 'null', '{"a":', '[]', '"x"', '{"__proto__":{"x":1}}', '['.repeat(500)),
  fc.json(),
)
const extra = fc.constantFrom(
  {},
  { extra_content: { google: { thought_signature: 'YWI=' } } },
  { extra_content: 7 },
)
const calls = fc.array(
  fc
    .tuple(id, fc.constantFrom('f', 'g'), args, extra)
    .map(([id, name, args, extra]) => call(id, { name, args, extra })),
  { minLength: 1, maxLength: 3 },
)
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer', 'user'), content }),
  fc.record({ role: fc.constant('assistant'), content }),
  fc.record({ role: fc.constant('assistant'), content: fc.constant(null), tool_calls: calls }),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content }),
)

/** Calls with their results in some order, so that sound histories are not rare. */
const round = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 }),
    fc.array(anyText, { minLength: 3, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([ids, texts, isReversed]) => {
    const results = ids.map((id, index) => ({
      role: 'tool',
      tool_call_id: id,
      content: texts[index] ?? '',
    }))
    return [
      { role: 'assistant', content: null, tool_calls: ids.map((id) => call(id)) },
      ...(isReversed ? results.toReversed() : results),
    ]
  })
const history = fc
  .array(
    fc.oneof(
      message.map((one) => [one]),
      round,
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((groups) => groups.flat())

const models = fc.constantFrom('gemini-3-pro-preview', 'gemini-2.5-flash', 'gemma-3-27b-it')
const callIn = (part: GeminiPart) => ('functionCall' in part ? [part.functionCall.name] : [])
const responseIn = (part: GeminiPart) =>
  'functionResponse' in part ? [part.functionResponse.name] : []

/** What is wrong with turns by Google's rules. */
function faultsOf(turns: readonly GoogleTurn[]): string[] {
  const faults: string[] = []
  let due: string[] = []
  for (const [index, { role, parts }] of turns.entries()) {
    const responses = parts.flatMap(responseIn)
    if (role !== (index % 2 === 0 ? 'user' : 'model')) faults.push(`${index}: out of turn`)
    if (parts.length === 0) faults.push(`${index}: no parts`)
    if (JSON.stringify(responses) !== JSON.stringify(due)) faults.push(`${index}: not the results`)
    if (parts.slice(0, due.length).some((part) => !('functionResponse' in part))) {
      faults.push(`${index}: something before the results`)
    }
    if (parts.some((part) => 'text' in part && part.text === '')) faults.push(`${index}: empty`)
    due = parts.flatMap(callIn)
    if (role === 'user' && due.length > 0) faults.push(`${index}: a user who calls`)
  }
  return due.length > 0 ? [...faults, 'calls without results'] : faults
}

const isTurns = (value: unknown): value is GoogleTurn[] => Array.isArray(value)

test('any history gives turns in order or is rejected', () => {
  const counts = { sent: 0, withResults: 0, refused: 0 }
  const property = fc.property(history, models, fc.boolean(), (messages, model, onVertex) => {
    const chat = chatOf({ messages })
    let contents: unknown
    try {
      contents = (onVertex ? vertexGemini : google).request(chat, target(model)).body['contents']
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(ApiError)
      counts.refused += 1
      return
    }
    if (!isTurns(contents)) throw new Error('There are no turns.')
    expect(contents.length).toBeGreaterThan(0)
    expect(faultsOf(contents)).toEqual([])
    counts.sent += 1
    if (JSON.stringify(contents).includes('functionResponse')) counts.withResults += 1
  })
  const runs = fc.runsOf(3000)
  fc.assert(property, { numRuns: runs })
  // The property says little about what is never made.
  expect(counts.sent).toBeGreaterThan(runs / 10)
  expect(counts.withResults).toBeGreaterThan(runs / 30)
  expect(counts.refused).toBeGreaterThan(runs / 10)
})
