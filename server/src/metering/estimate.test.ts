import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { certainlyExceeds, certainlyFits, textsOf, tokensAtLeast, tokensAtMost } from './estimate'

describe('bounds', () => {
  const spaces = fc.nat(400).map((length) => ' '.repeat(length))

  test('hold for any text, alone and inside the JSON of a request', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), spaces)
    const property = fc.property(text, (content) => {
      const tokens = countTokens(content, { disallowedSpecial: new Set() })
      const bytes = Buffer.byteLength(content)
      expect(tokens).toBeLessThanOrEqual(tokensAtMost(bytes))
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
  test('takes strings, text parts and refusals, and counts what is no text', () => {
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
    expect(textsOf(prompt)).toEqual({ texts, messages: 4, media: 1 })
  })

  test('takes calls, tools and schemas as JSON', () => {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const format = { type: 'json_object' }
    const messages = [{ role: 'assistant', tool_calls: calls }]
    const { texts } = textsOf({ messages, tools, functions: null, response_format: format })
    expect(texts).toEqual([calls, tools, format].map((value) => JSON.stringify(value)))
  })
})
