import { expect, test } from 'bun:test'
import { answered, grown, isLimit, stateOf, stepsIn, tookMs } from './tool-steps'

const call = (id: string, name: string) => ({ id, function: { name, arguments: '{}' } })
const result = (tool_call_id: string, content = 'Done') => ({ tool_call_id, content })

test('the first of several tool calls runs, the others wait, and each is timed from its own start', () => {
  const initial = stepsIn([call('a', 'add'), call('b', 'look')], 1000)
  const states = (steps: typeof initial, isComing = true) =>
    steps.map((_, index) => stateOf(steps, index, isComing))
  expect(states(initial)).toEqual(['running', 'waiting'])
  const half = answered(initial, result('a'), 3000)
  expect(states(half)).toEqual(['done', 'running'])
  expect(states(half, false)).toEqual(['done', 'no result'])
  const whole = answered(half, result('b', 'Error: it broke'), 3500)
  expect(states(whole)).toEqual(['done', 'failed'])
  expect(whole.map(tookMs)).toEqual([2000, 500])
})

test('a streamed tool call is assembled, and its time starts with the last fragment', () => {
  const first = grown([], { index: 0, id: 'a', function: { name: 'add', arguments: '{"a"' } }, 10)
  const [step] = answered(
    grown(first, { index: 0, function: { arguments: ':1}' } }, 20),
    result('a'),
    50,
  )
  expect(step).toMatchObject({ name: 'add', text: '{"a":1}' })
  expect(step && tookMs(step)).toBe(30)
})

test('a result without a call changes nothing', () => {
  const initial = stepsIn([call('a', 'add')], 1)
  expect(answered(initial, result('b'), 2)).toEqual(initial)
})

test('a call skipped by a limit is distinguished from a failed one', () => {
  const words = 'Error: not run, as the message has reached its limit.'
  const steps = answered(stepsIn([call('a', 'add')], 1), result('a', words), 2)
  expect(stateOf(steps, 0, false)).toBe('not run')
})

test.each([
  ['Stopped: one message may call 100 tools. Send another message to continue.', true],
  ['Stopped: the model may ask for tools 25 times a message. Send another', true],
  ['Stopped: this message has cost 5.01 USD, and tools run until 5.', true],
  ['Stopped: the rain.', false],
  ['It was Stopped: one message may call', false],
])('%s', (text, expected) => {
  expect(isLimit(text)).toBe(expected)
})
