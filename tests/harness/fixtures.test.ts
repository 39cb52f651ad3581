import { describe, expect, test } from 'bun:test'
import {
  hasFixtures,
  readProjectRecordings,
  readRecording,
  recordingNames,
  validate,
} from './fixtures'

const dataOf = (body: Buffer) =>
  body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))

/** Legacy chunks may not have a null finish reason by the book, though OpenAI sends them so. */
const isLegacy = (name: string) => name.includes('completion')

test('our own recordings are whole streams', () => {
  expect(readProjectRecordings().size).toBe(8)
  for (const body of readProjectRecordings().values()) {
    expect(body.toString()).toEndWith('data: [DONE]\n\n')
    expect(dataOf(body).length).toBeGreaterThan(1)
  }
})

if (!hasFixtures)
  console.log('The folder of fixtures is absent: tests over recorded answers are skipped.')

const json = (name: string) => JSON.parse(readRecording(name).body.toString())

describe.skipIf(!hasFixtures)('against the description of the interface', () => {
  const chunkSchema = 'CreateChatCompletionStreamResponse'

  test('the recorded OpenAI streams pass, and so do our own', () => {
    const recorded = recordingNames().filter((name) => name.startsWith('openai-chat-stream'))
    expect(recorded).toHaveLength(4)
    const streams = recorded.map((name) => [name, readRecording(name).body] as const)
    const own = [...readProjectRecordings()].filter(
      ([name]) => name.startsWith('openai') && !isLegacy(name),
    )
    for (const [name, body] of [...streams, ...own]) {
      const problems = dataOf(body).flatMap((chunk) => validate(chunkSchema, chunk))
      expect({ name, problems }).toEqual({ name, problems: [] })
    }
  })

  test('whole answers pass, errors have their status', () => {
    expect(validate('CreateChatCompletionResponse', json('openai-text.json'))).toEqual([])
    expect(readRecording('openai-error.1.json').status).toBe(429)
  })

  test('finds mismatches', () => {
    expect(validate(chunkSchema, { id: 1 })).toContain('/id must be string')
    expect(() => validate('NoSuchSchema', {})).toThrow()
  })

  test('chunk files become streams with an end', () => {
    for (const name of recordingNames().filter((file) => file.endsWith('.txt'))) {
      expect(readRecording(name).body.toString().trimEnd()).toEndWith('data: [DONE]')
    }
  })
})
