import { cannotOccur, inEach, inNone, streamedInEach, type Oddity } from './oddity'
import { look, text, thought } from './scene'
import {
  chatEnd,
  chunk,
  cohereContent,
  cohereEnd,
  converseDelta,
  converseEnd,
  converseStop,
  googleEnd,
  googleEvent,
  messageBlock,
  messageEnd,
  messageStart,
} from './spoken'
import { event, itemsOf, responseEnd, responseOf, responseStart } from './spoken-response'
import { chatAnswer } from './whole'

const signature = 'c2lnbmF0dXJl'
const long = 'c2ln'.repeat(3000)
const one = '{"q":1}'
const calls = [['look', one]] as const
const claudePart = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
const [yesItem = {}] = itemsOf({ pieces: [text('Yes.')], finish: 'stop' })
const shownItem = {
  type: 'reasoning',
  id: 'r',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Hm.' }],
}
const [thoughtItem = {}] = itemsOf({ pieces: [thought(['Hm.'])], finish: 'stop' })

/** A call behind a thought, which no dialect may lose. */
const behind = (...pieces: Parameters<typeof thought>) =>
  inEach({ pieces: [thought(...pieces), look(one)], finish: 'calls' })

/** The signature of Gemini's call, which is a part of its id. */
const signedCall = (thoughtSignature: string) => {
  const part = { functionCall: { id: 'a', name: 'look', args: { q: 1 } }, thoughtSignature }
  return { stream: [googleEvent([part]), googleEnd('STOP')], whole: googleEnd('STOP', [part]) }
}

/** Oddities of thoughts. */
export const thoughtOddities: readonly Oddity[] = [
  {
    name: 'a signed thought without text',
    findings: 'V8, Q1',
    // Cohere signs nothing.
    said: { ...behind([], { signature }), cohere: cannotOccur },
    expected: { calls, has: /c2lnbmF0dXJl/ },
  },
  {
    name: 'a signed thought in fragments',
    findings: 'V20',
    said: { ...behind(['I ', 'think', '.'], { signature }), cohere: cannotOccur },
    expected: { thought: 'I think.', calls, has: /c2lnbmF0dXJl/ },
  },
  {
    name: 'a thought in fragments without a signature',
    findings: 'V4',
    said: behind(['I ', 'think', '.']),
    expected: { thought: 'I think.', calls },
  },
  {
    name: 'details of a thought in fragments, the signature last',
    findings: 'V20',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ reasoning: 'I ', reasoning_details: [{ ...claudePart, text: 'I ' }] }),
          chunk({ reasoning: 'think.', reasoning_details: [{ ...claudePart, text: 'think.' }] }),
          chunk({ reasoning_details: [{ ...claudePart, signature }] }),
          chunk({ content: 'Hm.' }),
          ...chatEnd('stop'),
        ],
      },
    },
    expected: { thought: 'I think.', text: 'Hm.', has: /I .*think\..*c2lnbmF0dXJl/ },
  },
  {
    name: 'a signature in fragments',
    findings: 'V20',
    said: {
      // In the others it comes at once.
      ...inNone,
      anthropic: {
        stream: [
          messageStart,
          ...messageBlock(
            0,
            { type: 'thinking', thinking: '' },
            { type: 'thinking_delta', thinking: 'I think.' },
            ...['c2ln', 'bmF0', 'dXJl'].map((piece) => ({
              type: 'signature_delta',
              signature: piece,
            })),
          ),
          ...messageBlock(1, { type: 'text', text: 'Hm.' }),
          ...messageEnd('end_turn'),
        ],
      },
      bedrock: {
        stream: [
          ...[{ text: 'I think.' }, { signature: 'c2ln' }, { signature: 'bmF0dXJl' }].map(
            (reasoningContent) => converseDelta(0, { reasoningContent }),
          ),
          converseStop(0),
          converseDelta(1, { text: 'Hm.' }),
          ...converseEnd('end_turn'),
        ],
      },
    },
    expected: { thought: 'I think.', text: 'Hm.', has: /"c2lnbmF0dXJl"/ },
  },
  {
    name: 'an encrypted or redacted thought',
    findings: 'V4, Q1',
    said: { ...behind([], { data: signature }), cohere: cannotOccur },
    expected: { calls, has: /c2lnbmF0dXJl/ },
  },
  {
    name: 'a signature of 12,000 characters',
    findings: 'Q2',
    said: {
      ...behind([], { signature: long }),
      google: signedCall(long),
      cohere: cannotOccur,
    },
    expected: { calls, has: new RegExp(`"${long}"`) },
  },
  {
    name: 'the signature of a call',
    findings: 'V24, Q2',
    said: { ...inNone, google: signedCall(signature) },
    expected: { calls, has: /c2lnbmF0dXJl/ },
  },
  {
    name: 'thoughts in another field than usual',
    findings: 'V4, Q9',
    said: {
      ...inNone,
      openai: {
        stream: [chunk({ reasoning: 'Hm.' }), chunk({ content: 'Yes.' }), ...chatEnd('stop')],
        whole: chatAnswer({ reasoning: 'Hm.', content: 'Yes.' }, 'stop'),
      },
      responses: {
        stream: [
          responseStart,
          event('reasoning_text.delta', { output_index: 0, delta: 'Hm.' }),
          event('output_text.delta', { output_index: 1, delta: 'Yes.' }),
          responseEnd([]),
        ],
        whole: responseOf([shownItem, yesItem]),
      },
      cohere: {
        stream: [
          { type: 'tool-plan-delta', delta: { message: { tool_plan: 'Hm.' } } },
          cohereContent({ text: 'Yes.' }),
          cohereEnd('COMPLETE'),
        ],
      },
    },
    expected: { thought: 'Hm.', text: 'Yes.' },
  },
  {
    name: 'thoughts among the parts of the text',
    findings: 'Q9',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
          chunk({ content: 'Yes.' }),
          ...chatEnd('stop'),
        ],
        whole: chatAnswer(
          {
            content: [
              { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
              { type: 'text', text: 'Yes.' },
            ],
          },
          'stop',
        ),
      },
    },
    expected: { thought: 'Hm.', text: 'Yes.' },
  },
  {
    name: 'a thought in its last event only',
    findings: 'V3',
    said: {
      ...inNone,
      responses: {
        stream: [
          responseStart,
          event('output_item.added', { output_index: 0, item: { ...thoughtItem, summary: [] } }),
          event('output_item.done', { output_index: 0, item: thoughtItem }),
          event('output_text.delta', { output_index: 1, delta: 'Yes.' }),
          responseEnd([]),
        ],
      },
    },
    expected: { thought: 'Hm.', text: 'Yes.' },
  },
  {
    name: 'thoughts alone',
    findings: 'V4, Q8',
    said: {
      ...streamedInEach({ pieces: [thought(['Hm.'])], finish: 'length' }),
    },
    expected: { thought: 'Hm.', finish: 'length' },
  },
]
