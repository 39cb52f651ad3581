import { expect, test } from 'bun:test'
import {
  runStreamed,
  createTestLoop,
  textOf,
  type ScriptedCall,
} from '../../testing/automation/tool-loop'
import type { JsonObject } from '../wire/json-body'
import { eventually } from '../../testing/eventually'

const echo: ScriptedCall = ['echo', '{"a":1}']

const call = (index: number, id: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name: 'echo', arguments: '' } }],
})
const text = (index: number, args: string) => ({
  tool_calls: [{ index, function: { arguments: args } }],
})

const choiceOf = ({ choices }: JsonObject): JsonObject => (Array.isArray(choices) ? choices[0] : {})
const deltas = (chunks: readonly JsonObject[]) => chunks.map((chunk) => choiceOf(chunk)['delta'])
const finishes = (chunks: readonly JsonObject[]) =>
  chunks.map((chunk) => choiceOf(chunk)['finish_reason']).filter((reason) => reason !== null)

test('a stream is one answer: one id, one role, calls numbered through, one finish; results beside', async () => {
  const message = { stream: true }
  const it = createTestLoop({ answers: [[echo, ['echo', '{"b":2}']], [echo], 'Done.'], message })
  const { chunks, error, stream } = await runStreamed(it)
  expect([error, stream?.isEnded]).toEqual([undefined, true])
  expect(new Set(chunks.map(({ id, created }) => `${String(id)} ${String(created)}`)).size).toBe(1)
  expect(deltas(chunks)).toEqual([
    { role: 'assistant', content: '' },
    call(0, 'call_0'),
    text(0, '{"a":1}'),
    call(1, 'call_1'),
    text(1, '{"b":2}'),
    {},
    {},
    call(2, 'call_0'),
    text(2, '{"a":1}'),
    {},
    { content: 'Done.' },
    {},
  ])
  expect(finishes(chunks)).toEqual(['stop'])
  expect(chunks.flatMap((chunk) => chunk['tool_message'] ?? [])).toEqual([
    { role: 'tool', tool_call_id: 'call_0', content: '{"a":1}' },
    { role: 'tool', tool_call_id: 'call_1', content: '{"b":2}' },
    { role: 'tool', tool_call_id: 'call_0', content: '{"a":1}' },
  ])
  expect(textOf(it.stored).at(-1)).toBe('assistant: Done.')
  expect(it.isDone()).toBe(true)
})

test('a stream that reaches a limit ends with a text that names the limit', async () => {
  const it = createTestLoop({
    answers: [[echo], [echo]],
    message: { stream: true },
    limits: { rounds: 1 },
  })
  const { chunks, stream } = await runStreamed(it)
  expect(stream?.isEnded).toBe(true)
  expect(finishes(chunks)).toEqual(['length'])
  expect(deltas(chunks).at(-2)).toEqual({ content: it.stored.at(-1)?.content })
  expect(chunks.flatMap((chunk) => chunk['tool_message'] ?? [])).toHaveLength(2)
})

test('stores the output so far of a stream whose reader stops', async () => {
  const it = createTestLoop({ answers: [[echo], 'Done.'], message: { stream: true } })
  const reply = await it.talk.begin()
  if (reply.kind !== 'stream') throw new Error('no stream')
  const { stream } = await it.talk.stream(reply).opening
  // All of the first answer, and the result.
  for (let read = 0; read < 4; read += 1) await stream.read()
  it.caller.abort()
  stream.cancel(new Error('gone'))
  await eventually(() => it.isDone())
  expect(textOf(it.stored).slice(0, 2)).toEqual(['user: Do it.', 'assistant: null'])
})
