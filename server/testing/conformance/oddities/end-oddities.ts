import { cannotOccur, inEach, inNone, streamedInEach, type Oddity, type Said } from './oddity'
import { text } from './scene'
import {
  chatEnd,
  chunk,
  cohereContent,
  cohereEnd,
  converseDelta,
  googleEnd,
  googleEvent,
  messageBlock,
  messageEnd,
  messageStart,
  type Dialect,
} from './spoken'
import { event, itemsOf, responseEnd, responseOf, responseStart } from './spoken-response'
import { chatAnswer, messageAnswer } from './whole'
import type { JsonObject } from '../../../src/wire/json-body'

const hm = 'Hm.'
const scene = { pieces: [text('H', 'm.')], finish: 'stop' } as const
const items = itemsOf(scene)
const hmBlock = messageBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: hm })

const failedResponse = {
  id: 'r',
  status: 'failed',
  output: [],
  error: { code: 'server_error', message: 'Oops.' },
  usage: { input_tokens: 64, output_tokens: 1500, total_tokens: 1564 },
}

const stoppedChat = {
  choices: [{ index: 0, message: { content: hm }, finish_reason: 'stop', stop_reason: 'END' }],
}

type Row = Record<Dialect, Said>

/** Adds the same fields to all that the dialects say; frames of AWS have none of them. */
function framed(fields: Partial<Said>, said: Row = inEach(scene)): Oddity['said'] {
  const changed = Object.entries(said).map(([dialect, each]) => [dialect, { ...each, ...fields }])
  return { ...Object.fromEntries(changed), bedrock: cannotOccur }
}

/** Oddities of what is around an answer: frames, labels, signs of life, ends, errors. */
export const endOddities: readonly Oddity[] = [
  {
    name: 'comments between the events',
    findings: 'V9, V17',
    said: framed({ between: ': keepalive\n\n' }, streamedInEach(scene)),
    expected: { text: hm },
  },
  {
    name: 'events that carry nothing',
    findings: 'V9, V17',
    said: {
      openai: {
        stream: [{ choices: [] }, chunk({}), chunk({ content: hm }), chunk({}), ...chatEnd('stop')],
      },
      responses: {
        stream: [
          { type: 'keepalive', sequence_number: 1 },
          event('output_text.delta', { output_index: 0, delta: hm }),
          { type: 'keepalive', sequence_number: 3 },
          responseEnd(items),
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          { type: 'ping' },
          ...hmBlock,
          { type: 'ping' },
          ...messageEnd('end_turn'),
        ],
      },
      google: {
        stream: [
          {},
          googleEvent([{ text: hm }]),
          { candidates: [] },
          googleEvent([{ text: '' }]),
          googleEnd('STOP'),
        ],
      },
      bedrock: cannotOccur,
      cohere: {
        stream: [
          { type: 'debug', prompt: 'x' },
          cohereContent({ text: hm }),
          cohereContent({ text: '' }),
          cohereEnd('COMPLETE'),
        ],
      },
    },
    expected: { text: hm },
  },
  {
    name: 'under the label of a text',
    findings: 'V12',
    said: framed({ label: 'text/plain; charset=utf-8' }),
    expected: { text: hm },
  },
  {
    name: 'under no label',
    findings: 'V12',
    said: framed({ label: '' }),
    expected: { text: hm },
  },
  {
    name: 'a whole answer in place of a stream',
    findings: 'V12',
    said: {
      ...inEach(scene),
      openai: { whole: chatAnswer({ content: hm }, 'stop') },
      responses: { whole: responseOf(items) },
      anthropic: { whole: messageAnswer([{ type: 'text', text: hm }], 'end_turn') },
      google: { whole: googleEnd('STOP', [{ text: hm }]) },
      // Tollgate requests only streams of them, and they answer in their own frames and events.
      bedrock: cannotOccur,
      cohere: cannotOccur,
    },
    expected: { text: hm },
  },
  {
    name: 'an end without a reason',
    findings: 'Q7, V14',
    said: {
      // In the others the reason is the end, or has a type that is not null.
      ...inNone,
      openai: {
        stream: [chunk({ content: hm }), ...chatEnd(null)],
        whole: chatAnswer({ content: hm }, null),
      },
      responses: { whole: { ...responseOf(items), status: null } },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 5 } },
          { type: 'message_stop' },
        ],
        whole: { ...messageAnswer([{ type: 'text', text: hm }], ''), stop_reason: null },
      },
    },
    expected: { text: hm },
  },
  {
    name: 'neither a mark of the end nor counts behind the reason',
    findings: 'V5',
    said: {
      openai: { stream: [chunk({ content: hm }), chunk({}, 'stop')] },
      responses: cannotOccur,
      anthropic: { stream: [messageStart, ...hmBlock, ...messageEnd('end_turn').slice(0, 1)] },
      google: { stream: [googleEvent([{ text: hm }], { finishReason: 'STOP' })] },
      bedrock: {
        stream: [converseDelta(0, { text: hm }), { messageStop: { stopReason: 'end_turn' } }],
      },
      cohere: cannotOccur,
    },
    expected: { text: hm },
  },
  {
    name: 'an end by a stop sequence is named',
    findings: 'V21',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ content: hm }),
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 'END' }] },
          '[DONE]',
        ],
        whole: stoppedChat,
      },
      anthropic: {
        stream: [
          messageStart,
          ...hmBlock,
          ...messageEnd('stop_sequence', { stop_sequence: 'END' }),
        ],
        whole: {
          ...messageAnswer([{ type: 'text', text: hm }], 'stop_sequence'),
          stop_sequence: 'END',
        },
      },
      bedrock: {
        stream: [
          converseDelta(0, { text: hm }),
          {
            messageStop: {
              stopReason: 'stop_sequence',
              additionalModelResponseFields: { stop_sequence: 'END' },
            },
          },
        ],
      },
      cohere: {
        stream: [cohereContent({ text: hm }), cohereEnd('STOP_SEQUENCE')],
        // It does not say which one.
        expected: { text: hm, has: /"stop_reason":"stop_sequence"/ },
      },
    },
    expected: { text: hm, has: /"stop_reason":"END"/ },
  },
  {
    name: 'busy behind its opening: failover to another provider',
    findings: 'V10',
    said: {
      openai: {
        stream: [
          chunk({ role: 'assistant', content: '' }),
          { error: { message: 'Overloaded.', type: 'server_error', code: 503 } },
        ],
      },
      responses: {
        stream: [
          responseStart,
          event('in_progress', { response: { id: 'r', status: 'in_progress', output: [] } }),
          { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null },
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded.' } },
        ],
      },
      google: {
        stream: [
          googleEvent([]),
          { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded.' } },
        ],
      },
      bedrock: {
        stream: [
          { messageStart: { role: 'assistant' } },
          { exception: { type: 'throttlingException', message: 'Too many requests.' } },
        ],
      },
      cohere: {
        stream: [{ type: 'message-start' }, { message: 'too many requests, rate limit reached' }],
      },
    },
    expected: { fails: { retryable: true, isEarly: true } },
  },
  {
    name: 'an error in the place of an answer, with status 200',
    findings: 'V10, V18',
    said: {
      ...failing({ error: { message: 'Oops.', type: 'server_error' } }),
      anthropic: failure({ type: 'error', error: { type: 'api_error', message: 'Oops.' } }),
      google: failure({ error: { code: 500, status: 'INTERNAL', message: 'Oops.' } }),
      bedrock: { stream: [{ exception: { type: 'internalServerException', message: 'Oops.' } }] },
      cohere: { stream: [{ id: '2', message: 'internal server error' }] },
    },
    expected: { fails: { code: 'provider_error', isEarly: true } },
  },
  {
    name: 'the counts of a failed answer are not used',
    findings: 'V16',
    said: {
      // Their errors count nothing.
      ...inNone,
      openai: {
        stream: [
          chunk({ content: hm }),
          { ...chunk({}, 'error'), usage: { prompt_tokens: 64, completion_tokens: 1500 } },
        ],
      },
      responses: {
        stream: [responseStart, event('failed', { response: failedResponse })],
        whole: failedResponse,
      },
    },
    expected: { fails: { code: 'provider_error' }, usage: { input: 7, estimated: true } },
  },
]

function failure(error: JsonObject): Said {
  return { stream: [error], whole: error }
}

function failing(error: JsonObject): Row {
  const said = failure(error)
  return {
    openai: said,
    responses: said,
    anthropic: said,
    google: said,
    bedrock: said,
    cohere: said,
  }
}
