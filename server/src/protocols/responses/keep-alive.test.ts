import { expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import {
  baseRequest,
  chunkOf,
  identity,
  parseEvents,
} from '../../../testing/protocols/responses-events'
import { ApiError } from '../../errors'
import { FrameWriter } from '../../wire/event-writer'
import type { JsonObject } from '../../wire/json-body'
import { namedFrame } from '../../wire/sse'

const newWriter = () => dialect.read(baseRequest).writer(identity, 9)
const numbersIn = (events: readonly JsonObject[]) =>
  events.map(({ sequence_number: number }) => number)
const countTo = (count: number) => Array.from({ length: count }, (_, number) => number)

test('finding V17: a silence in a translated Response is an event with the next number', () => {
  const writer = newWriter()
  const frames = [
    writer.write(JSON.stringify(chunkOf({ role: 'assistant', content: 'a' }))),
    writer.keepAlive(),
    writer.keepAlive(),
    writer.write(JSON.stringify(chunkOf({ content: 'b' }))),
    writer.keepAlive(),
    writer.write(JSON.stringify(chunkOf({}, 'stop'))),
    writer.end(),
  ]
  expect(frames[1]).toBe('event: keepalive\ndata: {"type":"keepalive","sequence_number":5}\n\n')
  const events = parseEvents(frames.join(''))
  expect(numbersIn(events)).toEqual(countTo(events.length))
  expect(events.filter(({ type }) => type === 'keepalive')).toHaveLength(3)
})

test('finding V17: before a Response has begun it is a comment', () => {
  const writer = newWriter()
  expect(writer.keepAlive()).toBe(': ping\n\n')
  const events = parseEvents(writer.keepAlive() + writer.write(JSON.stringify(chunkOf({}))))
  expect(events[0]).toMatchObject({ type: 'response.created', sequence_number: 0 })
})

const numbered = (sequence_number: number, fields: JsonObject = {}) =>
  namedFrame({ type: 'response.output_text.delta', sequence_number, ...fields })

test('finding V17: events of the provider that follow move up, and are else as they came', () => {
  const writer = new FrameWriter(newWriter())
  const text = '"sequence_number":1 and \\"sequence_number\\":1'
  const raw =
    'event: response.output_text.delta\n' +
    `data: {"type":"response.output_text.delta","delta":${JSON.stringify(text)},"x":1.0,"sequence_number": 1}\n\n`
  const frames = [
    writer.write(numbered(0)),
    writer.keepAlive(),
    writer.write(raw),
    writer.keepAlive(),
    writer.keepAlive(),
    writer.write(numbered(2, { item: { sequence_number: 9 } })),
    writer.fail(new ApiError('connection_failed'), 'req_1'),
  ]
  expect(frames[0]).toBe(numbered(0))
  expect(frames[2]).toBe(raw.replace('"sequence_number": 1}', '"sequence_number": 2}'))
  expect(frames[5]).toBe(numbered(5, { item: { sequence_number: 9 } }))
  const events = parseEvents(frames.join(''))
  expect(events.at(-1)).toMatchObject({ type: 'response.failed' })
  expect(numbersIn(events)).toEqual(countTo(events.length))
})

test('finding V17: a provider without sequence numbers receives none', () => {
  const writer = new FrameWriter(newWriter())
  const delta = namedFrame({ type: 'response.output_text.delta' })
  const frames = [writer.write(delta), writer.keepAlive(), writer.write(delta)]
  expect(frames).toEqual([delta, namedFrame({ type: 'keepalive' }), delta])
})
