import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ask, cells, heard, newModel, openStreams, scripted, text } from './fixture'
import { answerOf, voices } from './voices'
import type { Front } from '../../providers/translated/front'

let front: Front
beforeAll(async () => {
  front = await openStreams()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const streamed = cells.filter(({ stream }) => stream)
/** Those that ask their providers for a whole answer. */
const whole = cells.filter(
  ({ door, stream, format }) => !stream && (format === 'chat' || format === door),
)
const counted = { outcome: 'ok', inputTokens: 5, outputTokens: 1, estimated: false }

describe('finding V12: the first bytes decide the format of a body', () => {
  describe.each(['text/plain', 'application/octet-stream', ''])('a stream as "%s"', (type) => {
    test.each(streamed)('of $format behind $door', async (cell) => {
      front.answer = () => scripted(answerOf(voices[cell.format], text), { type })
      const answer = await ask(front, cell, cell.format)
      expect(heard(cell, answer)).toEqual({ text, isWhole: true })
      expect(await front.booked(answer)).toMatchObject(counted)
    })
  })

  test('a stream that begins with blank lines, as anything', async () => {
    front.answer = () =>
      scripted(['\n', 20, ' \n\n', 20, ...answerOf(voices.chat, text)], {
        type: 'application/json',
      })
    const cell = { door: 'chat', stream: true } as const
    expect(heard(cell, await ask(front, cell, 'chat'))).toEqual({ text, isWhole: true })
  })

  describe.each(['application/json', 'text/event-stream', 'text/plain', ''])(
    'a whole answer to a stream, as "%s"',
    (type) => {
      test.each(streamed)('of $format behind $door', async (cell) => {
        const body = JSON.stringify(voices[cell.format].whole(text), null, 2)
        front.answer = () => scripted([body.slice(0, 20), 20, body.slice(20)], { type })
        const answer = await ask(front, cell, cell.format)
        expect(heard(cell, answer)).toEqual({ text, isWhole: true })
        expect(await front.booked(answer)).toMatchObject(counted)
      })
    },
  )

  describe.each(['text/event-stream', 'application/json', 'text/plain'])(
    'a stream to a request without, as "%s"',
    (type) => {
      test.each(whole)('of $format behind $door', async (cell) => {
        front.answer = () => scripted(answerOf(voices[cell.format], text), { type })
        const answer = await ask(front, cell, cell.format)
        expect(heard(cell, answer)).toEqual({ text, isWhole: true })
        expect(await front.booked(answer)).toMatchObject(counted)
      })
    },
  )

  test.each(whole)(
    'a stream to a request without, which stays open: of $format behind $door',
    async (cell) => {
      const { opening, say, finish, usage, last } = voices[cell.format]
      const end = cell.format === 'responses' ? last(text) : []
      front.answer = () =>
        scripted([...opening, ...say(text), ...finish, ...usage, ...end], { staysOpen: true })
      const answer = await ask(front, cell, cell.format)
      expect(heard(cell, answer)).toEqual({ text, isWhole: true })
    },
  )

  test('a stream to a request without, for which memory is missing, is rejected, and frees it', async () => {
    const cell = { door: 'messages', stream: false } as const
    const { opening, say } = voices.messages
    const model = await newModel(front, 'messages')
    const long = say('x'.repeat(13 << 20))
    front.answer = () => scripted([...opening, ...Array.from({ length: 4 }, () => long).flat()])
    const refused = await ask(front, cell, ['messages', model])
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '3'])
    expect(front.requests).toHaveLength(1)
    front.answer = () => scripted(answerOf(voices.messages, text))
    const answer = await ask(front, cell, ['messages', model])
    expect(heard(cell, answer)).toEqual({ text, isWhole: true })
  })

  test.each(whole)('JSON as text: of $format behind $door', async (cell) => {
    const body = JSON.stringify(voices[cell.format].whole(text))
    front.answer = () => new Response(body, { headers: { 'content-type': 'text/plain' } })
    const answer = await ask(front, cell, cell.format)
    expect(heard(cell, answer)).toEqual({ text, isWhole: true })
    expect(await front.booked(answer)).toMatchObject(counted)
  })

  describe.each(['text/html', 'text/event-stream', 'application/json', ''])(
    'a page stays an error, as "%s"',
    (type) => {
      test.each(cells)('of $format behind $door, stream $stream', async (cell) => {
        front.answer = () => scripted(['<!doctype html><h1>Bad gateway</h1>'], { type })
        const answer = await ask(front, cell, [cell.format, await newModel(front, cell.format)])
        expect(answer.status).toBe(502)
        expect(answer.text).not.toContain('<')
        expect(front.requests).toHaveLength(1)
      })
    },
  )

  test.each(streamed)('an error as JSON is one: of $format behind $door', async (cell) => {
    const error = { code: 503, status: 'UNAVAILABLE', type: 'overloaded_error', message: 'Busy.' }
    front.answer = () => Response.json({ type: 'error', error })
    const answer = await ask(front, cell, [cell.format, await newModel(front, cell.format)])
    expect(answer.status).toBe(503)
  })
})
