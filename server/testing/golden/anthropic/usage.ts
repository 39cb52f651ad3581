import { ending, textBlock, start } from './events'
import type { AnswerRow } from '../../conformance/conformance'

const counted = { input: 12, output: 5 }

export const usageAnswers: readonly AnswerRow[] = (
  [
    ['plain', { input_tokens: 12, output_tokens: 1 }, { output_tokens: 5 }, counted],
    [
      'read from a cache, beside the input',
      { input_tokens: 12, cache_read_input_tokens: 900, output_tokens: 1 },
      { output_tokens: 5 },
      { ...counted, cachedInput: 900 },
    ],
    [
      'written to a cache, beside the input',
      {
        input_tokens: 12,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 0 },
      },
      { output_tokens: 5 },
      { ...counted, cacheWrite: 300 },
    ],
    [
      'revised at the end',
      { input_tokens: 12, cache_read_input_tokens: 0, output_tokens: 1 },
      { input_tokens: 40, cache_read_input_tokens: 7, output_tokens: 5 },
      { input: 40, cachedInput: 7, output: 5 },
    ],
    [
      'null is no revision',
      { input_tokens: 12 },
      { input_tokens: null, cache_read_input_tokens: null, output_tokens: 5 },
      counted,
    ],
    [
      'in several passes, without those of an advisor',
      { input_tokens: 1 },
      {
        input_tokens: 1,
        output_tokens: 1,
        iterations: [
          { type: 'compaction', input_tokens: 100, output_tokens: 20 },
          { type: 'advisor_message', input_tokens: 999, output_tokens: 999 },
          { type: 'message', input_tokens: 23, output_tokens: 7, cache_read_input_tokens: 5 },
        ],
      },
      { input: 123, cachedInput: 5, output: 27 },
    ],
    [
      'finding P8: thoughts, which are inside the output',
      { input_tokens: 12, output_tokens: 1 },
      { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } },
      { input: 12, output: 2, reasoning: 3 },
    ],
    [
      'thoughts beyond the output are no more than it',
      { input_tokens: 12 },
      { output_tokens: 5, output_tokens_details: { thinking_tokens: 9 } },
      { input: 12, reasoning: 5, flawed: true },
    ],
    [
      'finding P8: a fallback without what was refused before any output',
      { input_tokens: 408, output_tokens: 1 },
      {
        input_tokens: 412,
        output_tokens: 26,
        iterations: [
          { type: 'message', model: 'a', input_tokens: 408, output_tokens: 0 },
          { type: 'fallback_message', model: 'b', input_tokens: 412, output_tokens: 26 },
        ],
      },
      { input: 412, output: 26 },
    ],
    [
      'a fallback after some output, which is billed too',
      { input_tokens: 10 },
      {
        output_tokens: 7,
        iterations: [
          { type: 'message', model: 'a', input_tokens: 10, output_tokens: 4 },
          { type: 'fallback_message', model: 'b', input_tokens: 12, output_tokens: 3 },
        ],
      },
      { input: 22, output: 7 },
    ],
    ['zero', { input_tokens: 0 }, { output_tokens: 0 }, {}],
    [
      'a count that is none',
      { input_tokens: 12, cache_read_input_tokens: -4 },
      { output_tokens: 5 },
      { ...counted, flawed: true },
    ],
    ['missing', {}, {}, { input: 7, output: 2, estimated: true }],
    // Only Tollgate has a count of the content after the start.
    [
      'missing at the end',
      { input_tokens: 12, output_tokens: 1 },
      {},
      { input: 12, output: 2, estimated: true },
    ],
  ] as const
).map(([what, first, last, usage]) => ({
  title: `usage: ${what}`,
  events: [start(first), ...textBlock(0, 'Hi there'), ...ending('end_turn', last)],
  message: { content: 'Hi there' },
  usage,
}))
