import { expect, test } from 'bun:test'
import { Answer } from '../load/answer'
import { canned, chunksOfStream } from './answers'

/** The role, the reason, the usage and `[DONE]`. */
const eventsBeside = 4

test('every answer is valid HTTP, and streams have their chunks', () => {
  const read = Object.entries(canned).map(([model, { pieces }]) => {
    const answer = new Answer()
    const progress = pieces.map((piece) => answer.take(piece))
    const isSound = progress.at(-1) === 'whole' && !progress.slice(0, -1).includes('whole')
    return [model, isSound && answer.events]
  })
  const streamed = chunksOfStream + eventsBeside
  expect(Object.fromEntries(read)).toEqual({
    plain: 0,
    long: 0,
    'stream-0': streamed,
    'stream-10': streamed,
    quiet: streamed,
    tools: streamed,
    embed: 0,
    image: 0,
    speech: 0,
    transcription: 0,
  })
})

test('tool calls have JSON arguments', () => {
  const text = Buffer.concat(canned['tools']?.pieces ?? []).toString()
  const pieces = [...text.matchAll(/"index":(\d),"function":\{"arguments":"((?:[^"\\]|\\.)*)"/g)]
  const argumentsOf = (call: string) =>
    pieces
      .flatMap(([, index, piece]) => (index === call ? [JSON.parse(`"${piece}"`)] : []))
      .join('')
  const cities = ['0', '1'].map((call) => JSON.parse(argumentsOf(call)))
  const city = 'Paris '.repeat(chunksOfStream / 2 - 3)
  expect(cities).toEqual([{ city }, { city }])
})
