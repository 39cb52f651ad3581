import { inNone, type Oddity } from './oddity'
import { chunk, converseDelta, googleEvent, messageBlock, messageStart } from './spoken'
import type { JsonObject } from '../../../src/wire/json-body'

const hm = 'Hm.'
const hmBlock = messageBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: hm })
const hmChunk = chunk({ content: hm })
const counted = { input: 10, output: 5, estimated: false }

const chatCount = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
})
const googleCount = (promptTokenCount: number, candidatesTokenCount: number) => ({
  usageMetadata: { promptTokenCount, candidatesTokenCount },
})
const revised = (usage: JsonObject, stop_reason: string | null = null) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const googleFinish = googleEvent([], { finishReason: 'STOP' })
const messageStop = { type: 'message_stop' }
const converseFinish = { messageStop: { stopReason: 'end_turn' } }

/** Oddities of the counts of an answer. */
export const countOddities: readonly Oddity[] = [
  {
    name: 'counts in each event',
    findings: 'Q5',
    said: {
      // The others count once.
      ...inNone,
      openai: {
        stream: [
          { ...hmChunk, ...chatCount(10, 1) },
          { ...chunk({}, 'stop'), ...chatCount(10, 5) },
          '[DONE]',
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          revised({ output_tokens: 2 }),
          revised({ output_tokens: 5 }, 'end_turn'),
          messageStop,
        ],
      },
      google: {
        stream: [
          { ...googleEvent([{ text: hm }]), ...googleCount(10, 1) },
          { ...googleFinish, ...googleCount(10, 5) },
        ],
      },
    },
    expected: { text: hm, usage: counted },
  },
  {
    name: 'a later count that is smaller: Gemini’s corrects, another’s is not believed',
    findings: 'Q5',
    said: {
      ...inNone,
      openai: {
        stream: [
          { ...hmChunk, ...chatCount(10, 5) },
          { ...chunk({}, 'stop'), ...chatCount(4, 2) },
          '[DONE]',
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          revised({ output_tokens: 5 }),
          revised({ input_tokens: 4, output_tokens: 2 }, 'end_turn'),
          messageStop,
        ],
      },
      google: {
        stream: [
          { ...googleEvent([{ text: hm }]), ...googleCount(169, 12) },
          { ...googleFinish, ...googleCount(10, 5) },
        ],
        expected: { text: hm, usage: { ...counted, flawed: false } },
      },
    },
    expected: { text: hm, usage: { ...counted, flawed: true } },
  },
  {
    name: 'counts in front of the reason',
    findings: 'Q7',
    said: {
      ...inNone,
      openai: {
        stream: [hmChunk, { choices: [], ...chatCount(10, 5) }, chunk({}, 'stop'), '[DONE]'],
      },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          revised({ output_tokens: 5 }),
          revised({}, 'end_turn'),
          messageStop,
        ],
      },
      google: { stream: [{ ...googleEvent([{ text: hm }]), ...googleCount(10, 5) }, googleFinish] },
      bedrock: {
        stream: [
          converseDelta(0, { text: hm }),
          { metadata: { usage: { inputTokens: 10, outputTokens: 5 } } },
          converseFinish,
        ],
      },
    },
    expected: { text: hm, usage: counted },
  },
]
