import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ask, doors, heard, openStreams, scripted } from './fixture'
import { voices } from './voices'
import type { Json } from '../../providers/conformance/fixture'
import type { Front } from '../../providers/translated/front'

let front: Front
beforeAll(async () => {
  front = await openStreams()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const frames = (...events: Json[]) =>
  events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
const start = (index: number, content_block: Json) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const grow = (index: number, delta: Json) => ({ type: 'content_block_delta', index, delta })
const stop = (index: number) => ({ type: 'content_block_stop', index })

const withNulls = frames(
  start(0, { type: 'text', text: '', thinking: null, signature: null }),
  grow(0, { type: 'text_delta', text: 'hi', partial_json: null, thinking: null }),
  stop(0),
  start(1, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, text: null }),
  grow(1, { type: 'input_json_delta', partial_json: '{"q":1}', text: null }),
  stop(1),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 1, input_tokens: null },
  },
  { type: 'message_stop', message: null },
)

const translated = doors.filter(({ door, stream }) => stream || door !== 'messages')

describe('finding V14: a null is a field that is absent', () => {
  test.each(translated)('of Anthropic behind $door, stream $stream', async (door) => {
    front.answer = () => scripted([...voices.messages.opening, ...withNulls])
    const answer = await ask(front, door, 'messages')
    expect(answer.status).toBe(200)
    expect(heard(door, answer)).toEqual({ text: 'hi', isWhole: true })
    expect(answer.text).toMatch(/look[^]*q\\*":\s*1/)
    expect(await front.booked(answer)).toMatchObject({ inputTokens: 5, outputTokens: 1 })
  })

  test.each(doors.filter(({ door, stream }) => stream || door !== 'responses'))(
    'of a Response behind $door, stream $stream',
    async (door) => {
      const { opening, say, last } = voices.responses
      const told = say('hi').map((frame) =>
        frame
          .replace('"item":{', '"item":{"call_id":null,"name":null,"arguments":null,')
          .replace('"delta":', '"logprobs":null,"delta":'),
      )
      const nothing = `data: ${JSON.stringify({ type: 'response.output_text.delta', delta: null })}\n\n`
      const end = last('hi').map((frame) =>
        frame.replace('"status":"completed",', '"status":"completed","service_tier":null,'),
      )
      front.answer = () => scripted([...opening, nothing, ...told, ...end])
      const answer = await ask(front, door, 'responses')
      expect(heard(door, answer)).toEqual({ text: 'hi', isWhole: true })
    },
  )
})
