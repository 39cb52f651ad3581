import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  answerEach,
  ask,
  cells,
  doors,
  heard,
  openStreams,
  scripted,
  text,
  type Door,
} from './fixture'
import { voices, type Format } from './voices'
import { eventually } from '../../../server/testing/eventually'
import { parsed } from '../../harness/http'
import type { Front } from '../../providers/translated/front'

let front: Front
beforeAll(async () => {
  front = await openStreams()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const comments = Array.from({ length: 60 }, () => [': keepalive\n\n', 100]).flat()

/** All answers that are read as streams; the Responses of a provider have one last event with all of it. */
const read = cells.filter(
  ({ door, stream, format }) =>
    format !== 'responses' && (stream || (format !== 'chat' && format !== door)),
)

/** Asks for all of them at the same time, and expects each to be whole and counted. */
async function expectWhole(answer: (format: Format) => Response): Promise<void> {
  answerEach(front, answer)
  const answers = await Promise.all(
    read.map(async (cell) => {
      const answered = await ask(front, cell, cell.format)
      const { outcome, inputTokens, outputTokens, estimated } = await front.booked(answered)
      return { ...cell, ...heard(cell, answered), outcome, inputTokens, outputTokens, estimated }
    }),
  )
  const counts = { outcome: 'ok', inputTokens: 5, outputTokens: 1, estimated: false }
  expect(answers).toEqual(read.map((cell) => ({ ...cell, text, isWhole: true, ...counts })))
}

describe('finding V5: a finished answer ends though its provider keeps the connection open', () => {
  test('in all formats behind all doors, streamed and whole', async () => {
    let open = 0
    await expectWhole((format) => {
      const { opening, say, finish, usage } = voices[format]
      open += 1
      const pieces = [...opening, ...say(text), ...finish, ...usage]
      return scripted(pieces, { staysOpen: true, onCancel: () => (open -= 1) })
    })
    await eventually(() => open === 0)
  })

  test('sends comments, too', async () => {
    await expectWhole((format) => {
      const { opening, say, finish, usage } = voices[format]
      return scripted([...opening, ...say(text), ...finish, ...usage, ...comments], {
        staysOpen: true,
      })
    })
  })

  const chat: Door = { door: 'chat', stream: true }

  test('an uncounted one is estimated', async () => {
    const { opening, say, finish } = voices.chat
    front.answer = () => scripted([...opening, ...say(text), ...finish], { staysOpen: true })
    const answer = await ask(front, chat, 'chat')
    expect(heard(chat, answer)).toEqual({ text, isWhole: true })
    expect(await front.booked(answer)).toMatchObject({ outcome: 'ok', estimated: true })
  })

  test('counts that come later are charged', async () => {
    const { opening, say, finish, usage } = voices.chat
    front.answer = () =>
      scripted([...opening, ...say(text), ...finish, 20, ...usage], { staysOpen: true })
    const answer = await ask(front, chat, 'chat')
    expect(await front.booked(answer)).toMatchObject({
      outcome: 'ok',
      inputTokens: 5,
      outputTokens: 1,
      estimated: false,
    })
  })

  test('with tool calls', async () => {
    const delta = {
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } },
      ],
    }
    const frames = [
      { choices: [{ index: 0, delta, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    front.answer = () => scripted(frames, { staysOpen: true })
    const answer = await ask(front, chat, 'chat')
    expect(heard(chat, answer).isWhole).toBe(true)
    expect(answer.text).toContain('"finish_reason":"tool_calls"')
  })

  test('it is not a failure of the provider: no number of them opens its breaker', async () => {
    const { opening, say, finish } = voices.chat
    front.answer = () => scripted([...opening, ...say(text), ...finish], { staysOpen: true })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(front, chat, 'chat')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await ask(front, chat, 'chat')).status).toBe(200)
  })

  test('before the finish a silence stays an error', async () => {
    const { opening, say } = voices.messages
    const cut = say(text).slice(0, 2)
    front.answer = () => scripted([...opening, ...cut])
    const door: Door = { door: 'messages', stream: true }
    expect(heard(door, await ask(front, door, 'messages')).isWhole).toBe(false)
  })
})

describe('finding Q7: [DONE] ends an answer without a finish reason', () => {
  test.each(doors.filter(({ stream }) => stream))('behind $door', async (door) => {
    const { opening, say, usage, last } = voices.chat
    front.answer = () => scripted([...opening, ...say(text), ...usage, ...last(text)])
    const answer = await ask(front, door, 'chat')
    expect(heard(door, answer)).toEqual({ text, isWhole: true })
    expect(await front.booked(answer)).toMatchObject({
      outcome: 'ok',
      inputTokens: 5,
      outputTokens: 1,
      estimated: false,
    })
  })

  test('as length if it has the requested number of tokens', async () => {
    const { opening, say, usage, last } = voices.chat
    front.answer = () => scripted([...opening, ...say(text), ...usage, ...last(text)])
    const reasonAt = async (max_tokens: number) => {
      const answer = await front.chat(voices.chat.model, { stream: true, max_tokens })
      const events = answer.text.split('\n\n').map((event) => parsed(event.slice(6)))
      return JSON.stringify(events).match(/"finish_reason":"(\w+)"/)?.[1]
    }
    expect([await reasonAt(1), await reasonAt(100)]).toEqual(['length', 'stop'])
  })

  test('except an answer that never began, which fails', async () => {
    const { opening, last } = voices.chat
    front.answer = () => scripted([...opening, ...last(text)])
    const answer = await ask(front, { door: 'chat', stream: true }, 'chat')
    expect([answer.status, answer.error.code]).toEqual([502, 'provider_error'])
  })
})
