import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  addressOf,
  ask,
  cells,
  heard,
  newModel,
  openStreams,
  scripted,
  text,
  type Door,
} from './fixture'
import { answerOf, voices, type Format } from './voices'
import { findBooked, requestIdOf } from '../../harness/ledger'
import type { Front } from '../../providers/translated/front'

let front: Front

const providers = ['groq', 'anthropic', 'openai', 'google'] as const

beforeAll(async () => {
  front = await openStreams()
  for (const provider of providers) {
    await front.gateway.admin('POST', '/connections', {
      name: `second-${provider}`,
      provider,
      api_key: 'sk-second',
      endpoint_url: addressOf(provider, front.url),
      priority: 2,
    })
  }
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Answers whose providers stream; a whole answer of the client's own format is JSON. */
const read = cells.filter(
  ({ door, stream, format }) => stream || (format !== 'chat' && format !== door),
)
const openings = {
  chat: '"role":"assistant"',
  messages: 'event: message_start',
  responses: 'event: response.created',
}

describe('finding V10: a provider that says behind its opening that it is busy is passed over', () => {
  test.each(read)('of $format behind $door, stream $stream', async (cell) => {
    const { opening, busy } = voices[cell.format]
    const model = await newModel(front, cell.format)
    front.answer = () =>
      front.requests.length === 1
        ? scripted([...opening, 50, busy])
        : scripted(answerOf(voices[cell.format], text))
    const answer = await ask(front, cell, [cell.format, model])
    expect(heard(cell, answer)).toEqual({ text, isWhole: true })
    expect(front.requests).toHaveLength(2)
    if (cell.stream) expect(answer.text.split(openings[cell.door])).toHaveLength(2)
    const booked = await findBooked(front.sql, [requestIdOf(answer)])
    expect(booked.filter(({ cost }) => cost > 0n)).toMatchObject([
      { outcome: 'ok', inputTokens: 5, outputTokens: 1 },
    ])
  })
})

describe('a started stream is not retried elsewhere', () => {
  const native: [Format, Door['door']][] = [
    ['chat', 'chat'],
    ['messages', 'messages'],
    ['responses', 'responses'],
    ['google', 'chat'],
  ]
  test.each(native)('%s: busy in the middle of a text is an error', async (format, door) => {
    const { opening, say, busy } = voices[format]
    const model = await newModel(front, format)
    const begun =
      format === 'messages' || format === 'responses' ? say(text).slice(0, 3) : say(text)
    front.answer = () => scripted([...opening, ...begun, busy])
    const answer = await ask(front, { door, stream: true }, [format, model])
    expect(answer.status).toBe(200)
    expect(heard({ door, stream: true }, answer).isWhole).toBe(false)
    expect(front.requests).toHaveLength(1)
  })

  test('thoughts are, too, of which nothing is shown', async () => {
    const { opening, busy } = voices.messages
    const thinking = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    }
    const item = { type: 'reasoning', id: 'rs_1', summary: [] }
    const added = { type: 'response.output_item.added', output_index: 0, item }
    const begun = {
      messages: [...opening, `data: ${JSON.stringify(thinking)}\n\n`, busy],
      responses: [
        ...voices.responses.opening,
        `data: ${JSON.stringify(added)}\n\n`,
        voices.responses.busy,
      ],
    }
    for (const format of ['messages', 'responses'] as const) {
      for (const door of ['chat', 'messages', 'responses'] as const) {
        front.reset()
        front.answer = () => scripted(begun[format])
        const model = await newModel(front, format)
        const answer = await ask(front, { door, stream: true }, [format, model])
        expect(heard({ door, stream: true }, answer).isWhole).toBe(false)
        expect(front.requests).toHaveLength(1)
      }
    }
  })

  test('a connection that is lost behind the opening is an error, and charged as such', async () => {
    const { opening } = voices.messages
    const model = await newModel(front, 'messages')
    front.answer = () => scripted(opening)
    const answer = await ask(front, { door: 'messages', stream: true }, ['messages', model])
    expect(answer.status).toBe(502)
    expect(front.requests).toHaveLength(1)
  })
})
