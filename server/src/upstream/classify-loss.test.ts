import { expect, test } from 'bun:test'
import { AttemptFailed } from './attempt-failed'
import { Delivery, classifyLoss, type Loss } from './classify-loss'
import { AnswerTooLong } from './http/answer'
import { ConnectionFailed } from './http/connection-failed'
import { LargeEventsFull } from './large-events'
import { ApiError } from '../errors'
import { invalidAnswer, toCallerError } from '../providers/upstream-error'
import { ClientDisconnected } from '../wire/chunk-stream'
import { EventTooLong } from '../wire/sse'

const source = {
  provider: 'fake',
  secret: null,
  textField: 'messages' as const,
  contextLength: null,
  maxOutputTokens: null,
  wasSent: () => false,
}
const refusal = (status: number, body: unknown = {}) => toCallerError({ status, body }, source)

test.each<[string, unknown, Loss | undefined]>([
  ['a caller who left', new ClientDisconnected(), 'ended'],
  ['a time-out', new ApiError('request_timeout'), 'ended'],
  ['an answer that is too long', new AnswerTooLong(), 'ended'],
  ['an event that is too long', new EventTooLong(), 'ended'],
  ['a connection that was lost', new ConnectionFailed(true, new Error('reset')), 'failed'],
  ['the same, reported', new ApiError('connection_failed'), 'failed'],
  ['invalid JSON', new SyntaxError('Unexpected token'), 'failed'],
  ['an invalid answer', invalidAnswer('fake', 'a response without choices'), 'failed'],
  ['a stopping process', new ApiError('gateway_unavailable'), 'failed'],
  [
    'a large event without memory for it (finding V11)',
    new ApiError('gateway_unavailable', { cause: new LargeEventsFull() }),
    'ended',
  ],
  [
    'a host that refuses the connection',
    new ConnectionFailed(false, new Error('refused')),
    undefined,
  ],
  ['a refusal', refusal(500), undefined],
  ['a refusal inside a 200', refusal(200, { error: { message: 'No.' } }), undefined],
  ['a prompt that is too long', refusal(400, { message: 'prompt is too long' }), undefined],
  ['a failed attempt', new AttemptFailed(refusal(503), true), undefined],
])('finding M10: %s', (_what, thrown, expected) => expect(classifyLoss(thrown)).toBe(expected))

test('finding M10: a request is delivered once the system has all of it, and its body is released then', () => {
  let released = 0
  const delivery = new Delivery({ release: () => void (released += 1) })
  expect(delivery.isDone).toBe(false)
  delivery.release()
  expect([delivery.isDone, released]).toEqual([true, 1])
})
