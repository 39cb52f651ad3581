import { inEach, inNone, type Oddity } from './oddity'
import { text } from './scene'
import {
  chatEnd,
  chunk,
  cohereContent,
  cohereEnd,
  converseDelta,
  converseEnd,
  googleEnd,
  googleEvent,
  messageBlock,
  messageEnd,
  messageStart,
} from './spoken'
import { event, itemsOf, responseEnd, responseStart } from './spoken-response'
import { chatAnswer } from './whole'

const hm = 'Hm.'
const [hmItem = {}] = itemsOf({ pieces: [text(hm)], finish: 'stop' })
/** The characters of one event: more than a megabyte. */
const much = 'Grüße '.repeat(200_000)

/** Oddities of texts. */
export const contentOddities: readonly Oddity[] = [
  {
    name: 'an event of more than 1 MB',
    findings: 'V11, Q11',
    said: inEach({ pieces: [text(much)], finish: 'stop' }),
    expected: { text: much },
  },
  {
    name: 'a text in its last event only',
    findings: 'V3',
    said: {
      ...inNone,
      responses: {
        stream: [
          responseStart,
          event('output_item.added', { output_index: 0, item: { ...hmItem, content: [] } }),
          event('output_text.done', { output_index: 0, text: hm }),
          event('output_item.done', { output_index: 0, item: hmItem }),
          responseEnd([hmItem]),
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          ...messageBlock(0, { type: 'text', text: hm }),
          ...messageEnd('end_turn'),
        ],
      },
      google: { stream: [googleEnd('STOP', [{ text: hm }])] },
    },
    expected: { text: hm },
  },
  {
    name: 'an answer in the event that ends it',
    findings: 'V3',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ role: 'assistant', content: hm }, 'stop'), ...chatEnd(null)],
      },
      responses: { stream: [responseStart, responseEnd([hmItem])] },
      google: { stream: [googleEnd('STOP', [{ text: hm }])] },
    },
    expected: { text: hm },
  },
  {
    name: 'texts without numbers',
    findings: 'V3',
    said: {
      ...inNone,
      openai: {
        stream: [
          { choices: [{ delta: { content: hm } }] },
          { choices: [{ delta: {}, finish_reason: 'stop' }] },
          ...chatEnd(null),
        ],
      },
      responses: {
        stream: [
          responseStart,
          event('output_text.delta', { delta: 'H' }),
          event('output_text.delta', { delta: 'm.' }),
          event('output_text.done', { text: hm }),
          event('output_item.done', { item: hmItem }),
          responseEnd([hmItem]),
        ],
      },
      google: { stream: [googleEvent([{ text: hm }]), googleEnd('STOP')] },
      cohere: {
        stream: [{ ...cohereContent({ text: hm }), index: undefined }, cohereEnd('COMPLETE')],
      },
    },
    expected: { text: hm },
  },
  {
    name: 'a text in parts',
    findings: 'Q9',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ content: [{ type: 'text', text: hm }] }), ...chatEnd('stop')],
        whole: chatAnswer({ content: [{ type: 'text', text: hm }] }, 'stop'),
      },
    },
    expected: { text: hm },
  },
  {
    name: 'the opening twice',
    findings: 'V10, V19',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ role: 'assistant', content: '' }),
          chunk({ role: 'assistant', content: 'H' }),
          chunk({ role: 'assistant', content: 'm.' }),
          ...chatEnd('stop'),
        ],
      },
      responses: {
        stream: [
          responseStart,
          responseStart,
          event('output_text.delta', { delta: hm }),
          responseEnd([]),
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          messageStart,
          ...messageBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: hm }),
          ...messageEnd('end_turn'),
        ],
      },
      google: { stream: [googleEvent([]), googleEvent([]), googleEnd('STOP', [{ text: hm }])] },
      bedrock: {
        stream: [
          { messageStart: { role: 'assistant' } },
          { messageStart: { role: 'assistant' } },
          converseDelta(0, { text: hm }),
          ...converseEnd('end_turn'),
        ],
      },
      cohere: {
        stream: [
          { type: 'message-start' },
          { type: 'message-start' },
          cohereContent({ text: hm }),
          cohereEnd('COMPLETE'),
        ],
      },
    },
    expected: { text: hm },
  },
]
