import { cannotOccur, inNone, type Oddity } from './oddity'
import { text } from './scene'
import {
  chatUsage,
  chunk,
  cohereContent,
  converseDelta,
  googleEvent,
  messageBlock,
  messageStart,
} from './spoken'
import { event, itemsOf, responseOf } from './spoken-response'
import { chatAnswer, messageAnswer } from './whole'
import type { JsonObject } from '../../../src/wire/json-body'

const hm = 'Hm.'
const [hmItem = {}] = itemsOf({ pieces: [text(hm)], finish: 'stop' })
const hmBlock = messageBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: hm })
const hmChunk = chunk({ content: hm })
const counted = { input: 10, output: 5, estimated: false }

const revised = (usage: JsonObject, stop_reason: string | null = null) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const googleFinish = googleEvent([], { finishReason: 'STOP' })
const messageStop = { type: 'message_stop' }
const converseFinish = { messageStop: { stopReason: 'end_turn' } }
const cohereFinish = (usage: JsonObject) => ({
  type: 'message-end',
  delta: { finish_reason: 'COMPLETE', usage },
})
const responseFinish = (usage: JsonObject) =>
  event('completed', { response: { ...responseOf([]), usage } })
const responseDelta = event('output_text.delta', { output_index: 0, delta: hm })

const responseNulls = {
  input_tokens: 10,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: null },
  total_tokens: 15,
}
const messageNulls = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: null,
  cache_creation: null,
  server_tool_use: null,
}
const googleNulls = {
  promptTokenCount: 10,
  candidatesTokenCount: 5,
  cachedContentTokenCount: null,
  promptTokensDetails: null,
  thoughtsTokenCount: null,
}

/** Oddities of counts that are absent. */
export const uncountedOddities: readonly Oddity[] = [
  {
    name: 'counts of the output alone: the prompt is estimated',
    findings: 'V19',
    said: {
      openai: {
        stream: [
          hmChunk,
          chunk({}, 'stop'),
          { choices: [], usage: { completion_tokens: 5 } },
          '[DONE]',
        ],
        whole: { ...chatAnswer({ content: hm }, 'stop'), usage: { completion_tokens: 5 } },
      },
      responses: { stream: [responseDelta, responseFinish({ output_tokens: 5 })] },
      anthropic: {
        stream: [
          { type: 'message_start', message: { id: 'm', content: [] } },
          ...hmBlock,
          revised({ output_tokens: 5 }, 'end_turn'),
          messageStop,
        ],
      },
      google: {
        stream: [
          googleEvent([{ text: hm }]),
          { ...googleFinish, usageMetadata: { candidatesTokenCount: 5 } },
        ],
      },
      // AWS and Cohere require both.
      bedrock: cannotOccur,
      cohere: cannotOccur,
    },
    expected: { text: hm, usage: { input: 7, estimated: true } },
  },
  {
    name: 'counts of the prompt alone: the output is estimated',
    findings: 'V19',
    said: {
      // Gemini leaves an output of nothing out; AWS and Cohere require both.
      ...inNone,
      openai: {
        stream: [
          hmChunk,
          chunk({}, 'stop'),
          { choices: [], usage: { prompt_tokens: 10 } },
          '[DONE]',
        ],
        whole: { ...chatAnswer({ content: hm }, 'stop'), usage: { prompt_tokens: 10 } },
      },
      responses: {
        stream: [responseDelta, responseFinish({ input_tokens: 10 })],
        whole: { ...responseOf([hmItem]), usage: { input_tokens: 10 } },
      },
      anthropic: {
        stream: [messageStart, ...hmBlock, revised({}, 'end_turn'), messageStop],
      },
    },
    expected: { text: hm, usage: { input: 10, estimated: true } },
  },
  {
    name: 'no counts: both sides are estimated',
    findings: 'V19',
    said: {
      openai: {
        stream: [hmChunk, chunk({}, 'stop'), { choices: [], usage: null }, '[DONE]'],
        whole: { ...chatAnswer({ content: hm }, 'stop'), usage: null },
      },
      responses: {
        stream: [
          responseDelta,
          event('completed', { response: { ...responseOf([]), usage: null } }),
        ],
      },
      anthropic: {
        stream: [
          { type: 'message_start', message: { id: 'm', content: [], usage: null } },
          ...hmBlock,
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: null },
          messageStop,
        ],
        whole: { ...messageAnswer([{ type: 'text', text: hm }], 'end_turn'), usage: null },
      },
      google: { stream: [googleEvent([{ text: hm }]), { ...googleFinish, usageMetadata: null }] },
      bedrock: { stream: [converseDelta(0, { text: hm }), converseFinish, { metadata: {} }] },
      cohere: {
        stream: [
          cohereContent({ text: hm }),
          { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: null } },
        ],
      },
    },
    expected: { text: hm, usage: { input: 7, estimated: true } },
  },
  {
    name: 'nulls among the counts',
    findings: 'V14',
    said: {
      openai: {
        stream: [
          hmChunk,
          chunk({}, 'stop'),
          {
            choices: [],
            usage: {
              ...chatUsage,
              prompt_tokens_details: null,
              completion_tokens_details: { reasoning_tokens: null },
            },
          },
          '[DONE]',
        ],
        whole: {
          ...chatAnswer({ content: hm }, 'stop'),
          usage: { ...chatUsage, prompt_tokens_details: null, completion_tokens_details: null },
        },
      },
      responses: {
        stream: [responseDelta, responseFinish(responseNulls)],
        whole: { ...responseOf([hmItem]), usage: responseNulls },
      },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          revised({ ...messageNulls, input_tokens: null }, 'end_turn'),
          messageStop,
        ],
        whole: { ...messageAnswer([{ type: 'text', text: hm }], 'end_turn'), usage: messageNulls },
      },
      google: {
        stream: [googleEvent([{ text: hm }]), { ...googleFinish, usageMetadata: googleNulls }],
        whole: {
          ...googleEvent([{ text: hm }], { finishReason: 'STOP' }),
          usageMetadata: googleNulls,
        },
      },
      bedrock: cannotOccur,
      cohere: {
        stream: [
          cohereContent({ text: hm }),
          cohereFinish({
            billed_units: null,
            tokens: { input_tokens: 10, output_tokens: 5 },
            cached_tokens: null,
          }),
        ],
      },
    },
    expected: { text: hm, usage: counted },
  },
]
