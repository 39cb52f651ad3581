import { expect, test } from 'bun:test'
import { finishIn, finishOf } from './finish-reason'
import { LoggedAnswer } from './logged-answer'
import { cutMark, maxBodyBytes } from './redact-body'

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake/ok' }
const chunk = (choice: object) => JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })

test('collects chunks into the answer that they form', () => {
  const answer = new LoggedAnswer()
  answer.add([chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null })], false)
  answer.add([chunk({ delta: { content: 'Hel' } }), chunk({ delta: { content: 'lo' } })], false)
  answer.add([chunk({ delta: {}, finish_reason: 'stop' })], false)
  expect(JSON.parse(answer.text() ?? '')).toMatchObject({
    object: 'chat.completion',
    choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }],
  })
})

const textDelta = (text: string) =>
  JSON.stringify({
    ...head,
    object: 'text_completion',
    choices: [{ index: 0, text, logprobs: null, finish_reason: null }],
  })

test('for legacy completions too', () => {
  const answer = new LoggedAnswer()
  answer.add([textDelta('Once '), textDelta('upon')], false)
  expect(JSON.parse(answer.text() ?? '')).toMatchObject({
    object: 'text_completion',
    choices: [{ index: 0, text: 'Once upon' }],
  })
})

test('keeps frames unchanged', () => {
  const answer = new LoggedAnswer()
  answer.add(['event: ping\n\n', 'data: x\n\n'], true)
  expect(answer.text()).toBe('event: ping\n\ndata: x\n\n')
})

test('collects only as much as is stored in the end', () => {
  for (const isEncoded of [false, true]) {
    const answer = new LoggedAnswer()
    const piece = chunk({
      delta: { content: 'x'.repeat(1000) },
      logprobs: { content: [{ token: 'y'.repeat(10_000) }] },
    })
    for (let count = 0; count < 1000; count++) answer.add([piece], isEncoded)
    expect(answer.text()?.length).toBeGreaterThan(maxBodyBytes)
    expect(answer.text()?.length).toBeLessThan(maxBodyBytes + 20_000)
    expect(answer.text()?.includes('yy')).toBe(isEncoded)
    expect(answer.text()).toEndWith(cutMark)
  }
})

test('an empty stream has no answer, and unreadable pieces are ignored', () => {
  const answer = new LoggedAnswer()
  answer.add(['no JSON', '[]', 'null'], false)
  expect(answer.text()).toBeUndefined()
  expect(new LoggedAnswer().text()).toBeUndefined()
})

test('reads the finish reason of each format, in our terms', () => {
  expect(finishOf({ choices: [{ finish_reason: 'length' }] })).toBe('length')
  expect(finishOf({ stop_reason: 'tool_use' })).toBe('tool_calls')
  expect(finishOf({ object: 'response', status: 'incomplete' })).toBe('length')
  expect(finishOf({ object: 'list', data: [] })).toBeNull()
})

test('a reason that every object has a member of is a word like others', () => {
  expect(finishOf({ choices: [{ finish_reason: 'constructor' }] })).toBe('constructor')
  expect(finishIn(['event: x\ndata: {"delta":{"stop_reason":"toString"}}\n\n'])).toBe('toString')
})

test('reads the last finish reason of a stream, and not from its text', () => {
  const quoted = chunk({ delta: { content: '"finish_reason":"length"' }, finish_reason: null })
  expect(finishIn([quoted])).toBeNull()
  const ended = chunk({ delta: {}, finish_reason: 'stop' })
  const usage = JSON.stringify({ ...head, choices: [], usage: {} })
  expect(finishIn([quoted, ended, usage])).toBe('stop')
  const event = 'event: message_delta\ndata: {"delta":{"stop_reason":"max_tokens"}}\n\n'
  expect(finishIn([event, 'event: message_stop\ndata: {}\n\n'])).toBe('length')
  expect(finishIn(['event: x\ndata: {"type":"response.completed","response":{}}\n\n'])).toBe('stop')
})
