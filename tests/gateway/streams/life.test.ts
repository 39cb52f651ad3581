import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { answerEach, ask, cells, heard, newModel, openStreams, scripted, text } from './fixture'
import { answerOf, voices, type Format } from './voices'
import { recordTimeFigure } from '../../../server/testing/figures'
import type { Front } from '../../providers/translated/front'

let front: Front
beforeAll(async () => {
  front = await openStreams({
    // Longer than a busy machine stands still.
    FIRST_BYTE_TIMEOUT_SECONDS: '8',
    IDLE_TIMEOUT_SECONDS: '8',
    STREAM_TIMEOUT_SECONDS: '20',
    REQUEST_TIMEOUT_SECONDS: '30',
  })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Comments for longer than the longest silence, each far within it. */
const comments = Array.from({ length: 90 }, () => [': keepalive\n\n', 100]).flat()
const streamed = cells.filter(({ stream }) => stream)

/** Asks for all streams at the same time, and expects each to be whole. */
async function expectWhole(answer: (format: Format) => Response): Promise<void> {
  answerEach(front, answer)
  const answers = await Promise.all(
    streamed.map(async (cell) => {
      const answered = await ask(front, cell, cell.format)
      const { inputTokens, outputTokens } = await front.booked(answered)
      return { ...cell, ...heard(cell, answered), inputTokens, outputTokens }
    }),
  )
  const counts = { inputTokens: 5, outputTokens: 1 }
  expect(answers).toEqual(streamed.map((cell) => ({ ...cell, text, isWhole: true, ...counts })))
}

describe('finding V9: comments are signs of life', () => {
  test('before the first event, of all formats behind all doors', async () => {
    await expectWhole((format) => scripted([...comments, ...answerOf(voices[format], text)]))
  })

  test('between two events', async () => {
    await expectWhole((format) => {
      const { opening, say, finish, usage, last } = voices[format]
      const [first = '', ...rest] = say(text)
      return scripted([...opening, first, ...comments, ...rest, ...finish, ...usage, ...last(text)])
    })
  })

  test('blank lines are, too', async () => {
    const blank = comments.map((piece) => (piece === 100 ? piece : '\n'))
    front.answer = () => scripted([...blank, ...answerOf(voices.chat, text)])
    const answer = await ask(front, { door: 'chat', stream: true }, 'chat')
    expect(heard({ door: 'chat', stream: true }, answer)).toEqual({ text, isWhole: true })
  })

  test('half of a line does not count as a sign of life: it ends after the time of a silence', async () => {
    const halves = Array.from({ length: 100 }, () => ['.', 100]).flat()
    front.answer = () => scripted([': ', ...halves], { staysOpen: true })
    const answer = await ask(front, { door: 'chat', stream: true }, 'chat')
    expect([answer.status, answer.error.code]).toEqual([504, 'request_timeout'])
  })

  test('comments alone end at the limit of the stream', async () => {
    const endless = Array.from({ length: 300 }, () => [': keepalive\n\n', 100]).flat()
    answerEach(front, (format) =>
      format === 'chat' ? scripted(endless) : scripted([], { staysOpen: true }),
    )
    const ended: Format[] = []
    const end = async (format: Format) => {
      const to = [format, await newModel(front, format)] as const
      const answer = await ask(front, { door: 'chat', stream: true }, to)
      expect(answer.error.code ?? answer.text).toContain('request_timeout')
      ended.push(format)
    }
    await recordTimeFigure('a stream of comments', { atLeast: 19_500 }, async () => {
      await Promise.all([end('chat'), end('messages')])
    })
    // Later than a silence.
    expect(ended).toEqual(['messages', 'chat'])
  })
})

const large = 'w '.repeat(700_000)

/** The same, its text in pieces and once more at its end. */
const inPieces = (format: Format): string[] => {
  const { opening, say, finish, usage, last } = voices[format]
  if (format !== 'responses') return answerOf(voices[format], large)
  const [added = '', partAdded = '', delta = '', ...rest] = say(large)
  const piece = delta.replace(JSON.stringify(large), JSON.stringify('w '.repeat(350)))
  const pieces = Array.from({ length: 2000 }, () => piece)
  return [...opening, added, partAdded, ...pieces, ...rest, ...finish, ...usage, ...last(large)]
}

describe('finding V11: an event of more than 1 MB', () => {
  test.each(cells)('of $format behind $door, stream $stream', async (cell) => {
    const { stream, format, door } = cell
    // Formats that are not translated are asked for a whole answer then.
    const isRelayed = format === door || format === 'chat'
    if (!stream && isRelayed) front.answer = () => Response.json(voices[format].whole(large))
    else front.answer = () => scripted(inPieces(format))
    const model = await newModel(front, format)
    const answer = await ask(front, { ...cell, maxTokens: 1_000_000 }, [format, model])
    const { text: said, isWhole } = heard(cell, answer)
    expect([said.length, said === large, isWhole]).toEqual([large.length, true, true])
    expect(await front.booked(answer)).toMatchObject({
      inputTokens: 5,
      outputTokens: 1,
      estimated: false,
    })
  })
})
