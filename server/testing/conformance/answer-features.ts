import type { VoicedAnswer } from './voiced-answer'
import type { JsonObject } from '../../src/wire/json-body'
import type { Usage } from '../../src/wire/usage'

/** A feature of answers: the provider's answer, and the one that the caller must receive. */
export interface AnswerFeature {
  name: string
  answer: VoicedAnswer
  message?: JsonObject
  finish?: string
  usage?: Partial<Usage>
  /** The stream ends without `[DONE]`, or whatever else marks an end in that format. */
  isUnmarked?: boolean
  /** The answer is none. */
  fails?: boolean
}

const text = 'Grüße 日本'

export const answerFeatures: readonly AnswerFeature[] = [
  { name: 'text', answer: { text, finish: 'stop' }, message: { content: text }, finish: 'stop' },
  {
    name: 'two calls, one without arguments, after text',
    answer: { text, calls: ['{"a":1}', ''], finish: 'stop' },
    message: {
      content: text,
      tool_calls: [
        { function: { name: 'first', arguments: '{"a":1}' } },
        { function: { name: 'second', arguments: '{}' } },
      ],
    },
    finish: 'tool_calls',
  },
  {
    name: 'reasoning',
    answer: { thought: 'Hm.', text, finish: 'stop' },
    message: { content: text, reasoning_content: 'Hm.' },
  },
  {
    name: 'citations',
    answer: { text, cites: 'https://a.example/', finish: 'stop' },
    message: {
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/' } }],
    },
  },
  {
    name: 'unknown fields beside the text',
    answer: { text, isStrange: true, finish: 'stop' },
    message: { content: text },
    finish: 'stop',
  },
  {
    name: 'nulls in fields that may be absent',
    answer: { thought: 'Hm.', text, calls: ['{"a":1}'], hasNulls: true, finish: 'stop' },
    message: {
      content: text,
      reasoning_content: 'Hm.',
      tool_calls: [{ function: { name: 'first', arguments: '{"a":1}' } }],
    },
    finish: 'tool_calls',
  },
  {
    name: 'without `[DONE]` or `message_stop`',
    answer: { text, finish: 'stop' },
    isUnmarked: true,
    message: { content: text },
    finish: 'stop',
  },
  { name: 'truncated by the output limit', answer: { text, finish: 'length' }, finish: 'length' },
  {
    name: 'a call that the output limit cut is not reported as whole',
    answer: { text, calls: ['{"a":"'], finish: 'length' },
    message: { content: text },
    finish: 'length',
  },
  { name: 'content filter', answer: { text, finish: 'filter' }, finish: 'content_filter' },
  {
    name: 'an unknown finish reason is not reported as `stop`',
    answer: { text, finish: 'unknown' },
    message: { content: text },
    finish: 'length',
  },
  { name: 'usage', answer: { text, finish: 'stop' }, usage: { input: 10, estimated: false } },
  { name: 'usage: read from a cache', answer: { text, finish: 'stop' }, usage: { cachedInput: 4 } },
  { name: 'usage: reasoning', answer: { text, finish: 'stop' }, usage: { reasoning: 3 } },
  {
    name: 'usage: missing, so estimated',
    answer: { text, finish: 'stop', claimed: null },
    message: { content: text },
    usage: { estimated: true },
  },
  {
    name: 'usage: output is bounded by what the answer can contain',
    answer: { text, finish: 'stop', claimed: 131_072 },
    message: { content: text },
    usage: { estimated: false, flawed: true },
  },
  {
    name: 'a truncated answer is an error',
    answer: { text, finish: undefined },
    isUnmarked: true,
    fails: true,
  },
  {
    name: 'an error after some text',
    answer: { text, isFailing: true, finish: 'stop' },
    fails: true,
  },
]
