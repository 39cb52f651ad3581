import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import {
  certainlyExceeds,
  certainlyFits,
  estimatePrompt,
  estimateTexts,
  estimateUsage,
  estimateOutputTokens,
  collectPromptTexts,
  tokensAtLeast,
  maxTokensOf,
} from './estimate'
import { TextSize } from '../wire/text-size'
import { recordTimeFigure } from '../../testing/figures'

describe('bounds', () => {
  const spaces = fc.nat(400).map((length) => ' '.repeat(length))

  test('hold for any text, alone and inside the JSON of a request', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), spaces)
    const property = fc.property(text, (content) => {
      const tokens = countTokens(content, { disallowedSpecial: new Set() })
      const bytes = Buffer.byteLength(content)
      expect(tokens).toBeLessThanOrEqual(maxTokensOf(bytes))
      expect(tokens).toBeGreaterThanOrEqual(tokensAtLeast(bytes))
      expect(Buffer.byteLength(JSON.stringify({ content }))).toBeGreaterThanOrEqual(bytes)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('leave a zone between where counting is needed', () => {
    expect(certainlyFits(976, 1000, 2)).toBe(true)
    expect(certainlyFits(977, 1000, 2)).toBe(false)
    expect(certainlyExceeds(128_000, 1000)).toBe(false)
    expect(certainlyExceeds(128_001, 1000)).toBe(true)
  })
})

describe('textsOf', () => {
  test('takes strings, text parts and refusals, and counts non-text parts', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } }
    const prompt = {
      messages: [
        { role: 'system', content: 'Be brief.', name: 'boss' },
        { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { role: 'assistant', content: null, reasoning_content: 'Hm.' },
      ],
    }
    const texts = ['Be brief.', 'boss', 'What is it?', 'No.', 'Hm.']
    expect(collectPromptTexts(prompt)).toEqual({ texts, messages: 4, media: 1 })
  })

  test('takes calls, tools and schemas as JSON', () => {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const format = { type: 'json_object' }
    const messages = [{ role: 'assistant', tool_calls: calls }]
    const { texts } = collectPromptTexts({
      messages,
      tools,
      functions: null,
      response_format: format,
    })
    expect(texts).toEqual([calls, tools, format].map((value) => JSON.stringify(value)))
  })
})

function sizeOf(text: string) {
  const size = new TextSize()
  size.add(text)
  return size
}

/** Ordinary English, from a note to a page. */
const prose = [
  'Thanks for the quick answer! I will try it tomorrow morning and let you know how it went.',
  'The harbour was quiet when we came back. Two boats lay on their sides in the mud, and an old man was mending a net with a needle as long as his hand. He looked up, nodded, and went on with his work as if nobody had ever left the village.',
  'To move the database to another machine, stop the service first, then copy the whole folder, not only the files that have changed. Start the new server with the same version and compare the number of rows in the largest tables before you let anybody in. If they differ, go back: the old folder is still there, and nothing has been lost.',
  'Interest rates rose for the third time this year, which surprised few people outside the industry and almost nobody inside it. Banks had already adjusted what they charge for mortgages, and households had begun to postpone larger purchases. Economists disagree about what comes next; most expect a pause until spring, some a further increase, and a handful believe that prices will fall by themselves once the winter is over.',
]

describe('M14: the estimate for a provider that does not count', () => {
  test.each(prose.map((text) => [text.slice(0, 30), text]))(
    'is near for "%s..."',
    (_start, text) => {
      const counted = countTokens(text)
      const { output } = estimateUsage({ promptTokens: 0, output: sizeOf(text) })
      expect(Math.abs(output - counted) / counted).toBeLessThanOrEqual(0.15)
      const messages = [
        { role: 'system', content: 'Answer in one friendly sentence, in plain words.' },
        { role: 'user', content: text },
      ]
      // As OpenAI counts a conversation: three tokens a message, three to open the answer, the roles.
      const texts = messages.flatMap(({ role, content }) => [role, content])
      const prompt = texts.reduce((sum, words) => sum + countTokens(words), 3 + 3 * messages.length)
      const estimated = estimatePrompt({ model: 'openai/gpt-4o', messages, temperature: 0.5 })
      expect(Math.abs(estimated - prompt) / prompt).toBeLessThanOrEqual(0.15)
    },
  )

  test('counts an image as an image, not as its megabyte', () => {
    const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`
    const content = [{ type: 'image_url', image_url: { url } }]
    expect(estimatePrompt({ messages: [{ role: 'user', content }] })).toBe(1008)
  })

  test.each([
    [{ prompt: 'The cat sat on the mat.' }, 7],
    [{ prompt: ['The cat sat on the mat.', 'The cat sat on the mat.'] }, 13],
    [{ prompt: [1, 2, 3] }, 3],
    [{ input: [[1, 2], [3]] }, 3],
    [{}, 0],
  ])('reads %j as %p tokens', (body, tokens) => {
    expect(estimatePrompt(body)).toBe(tokens)
  })

  test('S09: is marked, and never beyond the request’s maximum', () => {
    const limits = { input: 50, output: 100, inputsAudio: false, outputsAudio: false }
    const usage = estimateUsage({ promptTokens: 9000, output: { bytes: 1e9, words: 1e8 } }, limits)
    expect(usage).toMatchObject({ input: 50, output: 100, estimated: true, flawed: false })
  })
})

describe('estimateTexts', () => {
  const prose = 'The quick brown fox jumps over the lazy dog, as it has done before. '
  const code = 'export const sum = (a: number, b: number): number => a + b // of both\n'

  test.each([
    ['short', 20, 20],
    ['long', 20_000, 20_000],
    ['long, and unlike at its ends', 100_000, 1000],
  ])('is within a third of the count: %s', (_what, ofProse, ofCode) => {
    const texts = [prose.repeat(ofProse), code.repeat(ofCode)]
    const counted = ofProse * countTokens(prose) + ofCode * countTokens(code)
    expect(estimateTexts(texts)).toBeWithin(counted / 1.3, counted * 1.3)
  })

  test('without texts is almost zero', () => {
    expect(estimateTexts([])).toBe(0)
    expect(estimateTexts(['', ''])).toBeLessThan(3)
  })
})

test('finding M10: a long prompt is estimated by pieces of it, and about as all of it would be', async () => {
  const paragraph = 'The quick brown fox jumps over the lazy dog, again and again. '
  const perParagraph = estimatePrompt({ prompt: paragraph.repeat(1000) }) / 1000
  const count = 400_000
  const megabytes = (count * paragraph.length) >> 20
  const name = `M10: estimating ${megabytes} MB`
  const estimated = await recordTimeFigure(name, { atMost: 1000 }, async () =>
    estimatePrompt({ prompt: paragraph.repeat(count) }),
  )
  expect(estimated / count).toBeWithin(0.95 * perParagraph, 1.05 * perParagraph)
})

test('finding M10: the tokens of an answer that was not read are fewer where probabilities are in it', () => {
  const bytes = 20 * 1024 * 1024
  const plain = estimateOutputTokens(bytes, {})
  expect(plain).toBeWithin(4_000_000, 5_000_000)
  expect(estimateOutputTokens(bytes, { logprobs: false })).toBe(plain)
  const listed = estimateOutputTokens(bytes, { logprobs: true, top_logprobs: 20 })
  expect(listed).toBeWithin(15_000, 25_000)
  expect(estimateOutputTokens(0, { logprobs: true })).toBe(0)
})
