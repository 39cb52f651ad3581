import { expect, test } from 'bun:test'
import { usage } from '../../../testing/providers/google-recordings'
import { GoogleCounts, readDrawnUsage, readGoogleUsage } from './usage'
import { computeCost } from '../../metering/cost'
import { noUsage, toUsageBlock, type Usage } from '../../wire/usage'

const modality = (modality: string, tokenCount: number) => ({ modality, tokenCount })

test.each<[string, object, Partial<Usage>]>([
  [
    'text alone',
    { promptTokenCount: 12, candidatesTokenCount: 30, totalTokenCount: 42 },
    { input: 12, output: 30 },
  ],
  [
    'thinking, outside of the text',
    {
      promptTokenCount: 9,
      candidatesTokenCount: 29,
      totalTokenCount: 294,
      thoughtsTokenCount: 256,
    },
    { input: 9, output: 29, reasoning: 256 },
  ],
  [
    'thinking, without a total',
    { promptTokenCount: 9, candidatesTokenCount: 300, thoughtsTokenCount: 256 },
    { input: 9, output: 300, reasoning: 256 },
  ],
  [
    'a cached part, inside of the prompt',
    {
      promptTokenCount: 1000,
      cachedContentTokenCount: 900,
      candidatesTokenCount: 5,
      totalTokenCount: 1005,
    },
    { input: 100, cachedInput: 900, output: 5 },
  ],
  [
    'tokens of tools in the prompt, in the total',
    {
      promptTokenCount: 20,
      toolUsePromptTokenCount: 300,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 7,
      totalTokenCount: 337,
    },
    { input: 320, output: 10, reasoning: 7 },
  ],
  [
    'tokens of tools in the prompt, not in the total',
    {
      promptTokenCount: 20,
      toolUsePromptTokenCount: 300,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 7,
      totalTokenCount: 37,
    },
    { input: 320, output: 10, reasoning: 7 },
  ],
  [
    'sound that was heard and spoken',
    {
      promptTokenCount: 330,
      promptTokensDetails: [modality('TEXT', 10), modality('AUDIO', 320)],
      candidatesTokenCount: 60,
      candidatesTokensDetails: [modality('AUDIO', 50), modality('TEXT', 10)],
      totalTokenCount: 390,
    },
    { input: 10, audioInput: 320, output: 10, audioOutput: 50 },
  ],
  [
    'sound of which a part was cached',
    {
      promptTokenCount: 330,
      promptTokensDetails: [modality('TEXT', 10), modality('AUDIO', 320)],
      cachedContentTokenCount: 300,
      cacheTokensDetails: [modality('AUDIO', 300)],
      candidatesTokenCount: 5,
      totalTokenCount: 335,
    },
    { input: 10, cachedInput: 300, cachedAudio: 300, audioInput: 20, output: 5 },
  ],
  [
    'images beside text',
    {
      promptTokenCount: 268,
      promptTokensDetails: [modality('TEXT', 10), modality('IMAGE', 258)],
      candidatesTokenCount: 1330,
      candidatesTokensDetails: [modality('TEXT', 40), modality('IMAGE', 1290)],
      thoughtsTokenCount: 200,
      totalTokenCount: 1798,
    },
    { input: 10, imageInput: 258, output: 40, imageOutput: 1290, reasoning: 200 },
  ],
  [
    'an image of which a part was cached',
    {
      promptTokenCount: 268,
      promptTokensDetails: [modality('TEXT', 10), modality('IMAGE', 258)],
      cachedContentTokenCount: 200,
      cacheTokensDetails: [modality('IMAGE', 200)],
      candidatesTokenCount: 5,
      totalTokenCount: 273,
    },
    { input: 10, cachedInput: 200, imageInput: 58, output: 5 },
  ],
  [
    'more tokens of images than of candidates',
    {
      promptTokenCount: 9,
      candidatesTokenCount: 4,
      candidatesTokensDetails: [modality('IMAGE', 5)],
      totalTokenCount: 13,
    },
    { input: 9, imageOutput: 4, flawed: true },
  ],
  ['a prompt that was blocked', { promptTokenCount: 9, totalTokenCount: 9 }, { input: 9 }],
  [
    'thoughts that only the total counts',
    { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 63 },
    { input: 9, output: 4, reasoning: 50 },
  ],
  [
    'a total that contradicts its parts',
    { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 3, totalTokenCount: 10 },
    { input: 9, output: 4, reasoning: 3, flawed: true },
  ],
  [
    'a part without a number',
    { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: -4, totalTokenCount: 13 },
    { input: 9, output: 4, flawed: true },
  ],
])('I11: %s', (_what, block, expected) => {
  expect(readGoogleUsage(block)).toEqual(usage(expected))
})

test.each([
  ['a negative count', { promptTokenCount: 9, candidatesTokenCount: -4, totalTokenCount: 9 }],
  ['halves, whose sum is whole', { promptTokenCount: 1.5, toolUsePromptTokenCount: 2.5 }],
  ['halves beside a whole', { promptTokenCount: 4, toolUsePromptTokenCount: 0.5 }],
  ['halves with a whole total', { promptTokenCount: 1.5, totalTokenCount: 4 }],
])('M8: %s is not a usage', (_what, block) => expect(readGoogleUsage(block)).toBeUndefined())

test('an answer without usage counts zero tokens', () => {
  for (const block of [undefined, null, 7, [], {}, { trafficType: 'ON_DEMAND' }]) {
    expect(readGoogleUsage(block)).toBeUndefined()
  }
})

test.each<[string, object[], Partial<Usage>]>([
  [
    'a smaller prompt',
    [
      { promptTokenCount: 169, totalTokenCount: 169 },
      { promptTokenCount: 79, candidatesTokenCount: 5, totalTokenCount: 84 },
    ],
    { input: 79, output: 5 },
  ],
  [
    'less output',
    [
      {
        promptTokenCount: 9,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 78,
        totalTokenCount: 102,
      },
      { promptTokenCount: 9, thoughtsTokenCount: 78, totalTokenCount: 87 },
    ],
    { input: 9, reasoning: 78 },
  ],
  [
    'a prompt alone, which leaves the output as it was',
    [
      { promptTokenCount: 169, candidatesTokenCount: 5, totalTokenCount: 174 },
      { promptTokenCount: 79, totalTokenCount: 79 },
    ],
    { input: 79, output: 5 },
  ],
  [
    'output alone, which leaves the prompt as it was',
    [
      { promptTokenCount: 169, cachedContentTokenCount: 100, candidatesTokenCount: 5 },
      { candidatesTokenCount: 7 },
    ],
    { input: 69, cachedInput: 100, output: 7 },
  ],
  [
    'a prompt alone, which leaves images as they were',
    [
      {
        promptTokenCount: 9,
        candidatesTokenCount: 1300,
        candidatesTokensDetails: [modality('IMAGE', 1290)],
        totalTokenCount: 1309,
      },
      { promptTokenCount: 7, totalTokenCount: 7 },
    ],
    { input: 7, output: 10, imageOutput: 1290 },
  ],
])('finding Q5: the last of several counts is valid: %s', (_what, blocks, expected) => {
  const counts = new GoogleCounts()
  expect(blocks.map((block) => counts.next(block)).at(-1)).toEqual(usage(expected))
})

test('tokens of images cost their own rate, and the caller sees them in the details', () => {
  const read = readGoogleUsage({
    promptTokenCount: 10,
    candidatesTokenCount: 1300,
    candidatesTokensDetails: [modality('IMAGE', 1290)],
    totalTokenCount: 1310,
  })
  // Gemini 2.5 Flash Image: 0.3 USD for a million tokens of input, 2.5 of text and 30 of images.
  const rates = { input: 300_000_000n, output: 2_500_000_000n, imageOutput: 30_000_000_000n }
  expect(computeCost(read ?? noUsage, rates)).toBe(3000n + 25_000n + 38_700_000n)
  expect(toUsageBlock(read ?? noUsage)).toEqual({
    prompt_tokens: 10,
    completion_tokens: 1300,
    total_tokens: 1310,
    completion_tokens_details: { reasoning_tokens: 0, image_tokens: 1290 },
  })
})

test.each<[string, object[] | undefined, Partial<Usage>]>([
  ['no counts by modality', undefined, { imageOutput: 1300 }],
  ['text beside it', [modality('IMAGE', 1290)], { output: 10, imageOutput: 1290 }],
  ['more than all', [modality('IMAGE', 1301)], { imageOutput: 1300, flawed: true }],
  ['a count below zero', [modality('IMAGE', -1)], { imageOutput: 1300, flawed: true }],
])('an answer with images: %s', (_what, details, expected) => {
  const block = {
    promptTokenCount: 10,
    candidatesTokenCount: 1300,
    candidatesTokensDetails: details,
    totalTokenCount: 1310,
  }
  expect(readDrawnUsage(block)).toEqual(usage({ input: 10, ...expected }))
})
