import { expect, test } from 'bun:test'
import { finishIn, finishOf } from './finish-reason'
import { KeptAnswer } from './kept-answer'
import { cutMark, mostBodyBytes } from './redacted'

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake/ok' }
const chunk = (choice: object) => JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })

test('chunks become the answer that they stand for', () => {
  const answer = new KeptAnswer()
  answer.add([chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null })], false)
  answer.add([chunk({ delta: { content: 'Hel' } }), chunk({ delta: { content: 'lo' } })], false)
  answer.add([chunk({ delta: {}, finish_reason: 'stop' })], false)
  expect(JSON.parse(answer.text() ?? '')).toMatchObject({
    object: 'chat.completion',
    choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }],
  })
})

const said = (text: string) =>
  JSON.stringify({
    ...head,
    object: 'text_completion',
    choices: [{ index: 0, text, logprobs: null, finish_reason: null }],
  })

test('of legacy completions too', () => {
  const answer = new KeptAnswer()
  answer.add([said('Once '), said('upon')], false)
  expect(JSON.parse(answer.text() ?? '')).toMatchObject({
    object: 'text_completion',
    choices: [{ index: 0, text: 'Once upon' }],
  })
})

test('frames are kept as they are', () => {
  const answer = new KeptAnswer()
  answer.add(['event: ping\n\n', 'data: x\n\n'], true)
  expect(answer.text()).toBe('event: ping\n\ndata: x\n\n')
})

test('nothing is collected beyond what is kept in the end', () => {
  for (const isTold of [false, true]) {
    const answer = new KeptAnswer()
    const piece = chunk({
      delta: { content: 'x'.repeat(1000) },
      logprobs: { content: [{ token: 'y'.repeat(10_000) }] },
    })
    for (let count = 0; count < 1000; count++) answer.add([piece], isTold)
    expect(answer.text()?.length).toBeGreaterThan(mostBodyBytes)
    expect(answer.text()?.length).toBeLessThan(mostBodyBytes + 20_000)
    expect(answer.text()?.includes('yy')).toBe(isTold)
    expect(answer.text()).toEndWith(cutMark)
  }
})

test('nothing that came is no answer, and what cannot be read does no harm', () => {
  const answer = new KeptAnswer()
  answer.add(['no JSON', '[]', 'null'], false)
  expect(answer.text()).toBeUndefined()
  expect(new KeptAnswer().text()).toBeUndefined()
})

test('why an answer ended is read in each format, in our words', () => {
  expect(finishOf({ choices: [{ finish_reason: 'length' }] })).toBe('length')
  expect(finishOf({ stop_reason: 'tool_use' })).toBe('tool_calls')
  expect(finishOf({ object: 'response', status: 'incomplete' })).toBe('length')
  expect(finishOf({ object: 'list', data: [] })).toBeNull()
})

test('a reason that every object has a member of is a word like others', () => {
  expect(finishOf({ choices: [{ finish_reason: 'constructor' }] })).toBe('constructor')
  expect(finishIn(['event: x\ndata: {"delta":{"stop_reason":"toString"}}\n\n'])).toBe('toString')
})

test('of a stream the last word counts, and what is said in a text does not', () => {
  const quoted = chunk({ delta: { content: '"finish_reason":"length"' }, finish_reason: null })
  expect(finishIn([quoted])).toBeNull()
  const ended = chunk({ delta: {}, finish_reason: 'stop' })
  const usage = JSON.stringify({ ...head, choices: [], usage: {} })
  expect(finishIn([quoted, ended, usage])).toBe('stop')
  const event = 'event: message_delta\ndata: {"delta":{"stop_reason":"max_tokens"}}\n\n'
  expect(finishIn([event, 'event: message_stop\ndata: {}\n\n'])).toBe('length')
  expect(finishIn(['event: x\ndata: {"type":"response.completed","response":{}}\n\n'])).toBe('stop')
})
