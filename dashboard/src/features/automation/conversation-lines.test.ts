import { expect, test } from 'bun:test'
import { addPiece, beginAnswer, endAnswer, replaceLast, toLines } from './conversation-lines'
import type { Piece } from './answer-stream'
import type { CallPiece } from './tool-steps'

const pieceOf = (fields: Partial<Piece>): Piece => ({ text: '', reasoning: '', ...fields })
const callOf = (index: number, id: string): CallPiece => ({
  index,
  id,
  function: { name: 'add', arguments: '{}' },
})
const resultOf = (id: string) => ({ tool_call_id: id, content: `of ${id}` })

/** The answer after pieces that arrive a second apart. */
const answerOf = (...pieces: readonly Partial<Piece>[]) =>
  pieces.reduce(
    (answer, piece, at) => addPiece(answer, pieceOf(piece), (at + 1) * 1000),
    beginAnswer('sandbox/echo'),
  )

const message = {
  content: null,
  tool_calls: null,
  tool_call_id: null,
  createdAt: '2026-01-01T00:00:00Z',
}

test('text and reasoning grow the line of the answer', () => {
  const { lines } = answerOf(
    { reasoning: 'Hm' },
    { reasoning: '.' },
    { text: 'He' },
    { text: 'llo' },
  )
  expect(lines).toEqual([
    { role: 'assistant', model: 'sandbox/echo', reasoning: 'Hm.', text: 'Hello' },
  ])
})

test('the model continues in a line of its own after the results of all its tools', () => {
  const { lines } = answerOf(
    { call: callOf(0, 'a') },
    { call: callOf(1, 'b') },
    { result: resultOf('a') },
    { result: resultOf('b') },
    { text: 'Two.' },
  )
  expect(lines.map(({ text }) => text)).toEqual(['', 'Two.'])
  expect(lines[0].steps?.map(({ result }) => result)).toEqual(['of a', 'of b'])
})

test('text between a tool call and its result stays in the line of the call', () => {
  const { lines } = answerOf({ call: callOf(0, 'a') }, { text: 'Wait.' }, { result: resultOf('a') })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ text: 'Wait.', steps: [{ id: 'a', result: 'of a' }] })
})

test('calls of a later round are numbered from the start of the stream, and belong to its line', () => {
  const { lines } = answerOf(
    { call: callOf(0, 'a') },
    { result: resultOf('a') },
    { call: callOf(1, 'b') },
    { result: resultOf('b') },
    { text: 'Done.' },
  )
  expect(lines.map(({ steps }) => steps?.map(({ id }) => id))).toEqual([['a'], ['b'], undefined])
})

test('a complete answer of one call has the id of its request, one with tools has none', () => {
  const end = { requestId: 'req_1' }
  expect(endAnswer(answerOf({ text: 'Hi' }), end).lines).toMatchObject([{ requestId: 'req_1' }])
  const tools = answerOf({ call: callOf(0, 'a') }, { result: resultOf('a') }, { text: 'Hi' })
  const ended = endAnswer(tools, end).lines
  expect(ended.filter((line) => line.requestId !== undefined)).toEqual([])
})

test('the reason of an incomplete answer is at its last line', () => {
  const tools = answerOf({ call: callOf(0, 'a') }, { result: resultOf('a') }, { text: 'H' })
  const { lines } = endAnswer(tools, { requestId: null, problem: 'Stopped.' })
  expect(lines.map(({ problem }) => problem)).toEqual([undefined, 'Stopped.'])
})

test('stored tool results are attached to the response that called them', () => {
  const calls = [{ id: 'a', function: { name: 'add', arguments: '{}' } }]
  const lines = toLines([
    { ...message, role: 'user', content: 'Add.' },
    { ...message, role: 'assistant', tool_calls: calls },
    { ...message, role: 'tool', tool_call_id: 'a', content: '2' },
    { ...message, role: 'assistant', content: 'Two.' },
  ])
  expect(lines.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Add.'],
    ['assistant', ''],
    ['assistant', 'Two.'],
  ])
  expect(lines[1]?.steps).toMatchObject([{ id: 'a', result: '2' }])
})

test('a tool result without a response before it adds no line', () => {
  expect(toLines([{ ...message, role: 'tool', tool_call_id: 'a', content: '2' }])).toEqual([])
})

test('only the last lines are replaced', () => {
  const [first, second, third] = ['1', '2', '3'].map((text) => ({ role: 'user' as const, text }))
  if (!first || !second || !third) throw new Error('a line is missing')
  expect(replaceLast([first, second], 1, [third])).toEqual([first, third])
  expect(replaceLast([first], 0, [second, third])).toEqual([first, second, third])
})
