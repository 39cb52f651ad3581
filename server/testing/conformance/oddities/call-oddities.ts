import { cannotOccur, inEach, inNone, streamedInEach, type Oddity } from './oddity'
import { call, find, look, text } from './scene'
import { chatEnd, chunk, cohereCall, cohereEnd, converseEnd } from './spoken'
import { googleEnd, googleEvent, messageBlock, messageEnd, messageStart } from './spoken'
import { event, responseEnd, responseOf, responseStart } from './spoken-response'
import { chatAnswer, messageAnswer } from './whole'

const one = '{"q":1}'
const two = '{"q":22}'
const twoCalls = [
  ['look', one],
  ['find', two],
] as const

const unnamed = inEach({ pieces: [text('Hm.'), call({ id: 'call_0', name: '' })], finish: 'stop' })
const unnamedArguments = inEach({
  pieces: [text('Hm.'), call({ id: 'call_0', name: '' }, one)],
  finish: 'calls',
})

/** Oddities of calls as they are: ids, names, arguments, reasons. */
export const callOddities: readonly Oddity[] = [
  {
    name: 'calls with one id',
    findings: 'V7',
    said: inEach({
      pieces: [
        call({ id: 'call_0', name: 'look' }, one),
        call({ id: 'call_0', name: 'find' }, two),
      ],
      finish: 'calls',
    }),
    expected: { calls: twoCalls },
  },
  {
    name: 'calls without an id',
    findings: 'V7',
    said: {
      ...inEach({
        pieces: [call({ name: 'look' }, one), call({ name: 'find' }, two)],
        finish: 'calls',
      }),
      // AWS writes all fields that its types require.
      bedrock: cannotOccur,
    },
    expected: { calls: twoCalls },
  },
  {
    name: 'a call with neither name nor arguments is none',
    findings: 'V6, Q7',
    said: { ...unnamed, bedrock: cannotOccur },
    expected: { text: 'Hm.' },
  },
  {
    name: 'a call with arguments and without a name is an error',
    findings: 'V6',
    said: { ...unnamedArguments, bedrock: cannotOccur },
    expected: { fails: { code: 'provider_error', status: 502 } },
  },
  {
    name: 'the arguments twice are the first ones once',
    findings: 'V2',
    said: {
      ...inEach({ pieces: [look(`${one}${one}`)], finish: 'calls' }),
      // An object has no room for two.
      google: cannotOccur,
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: '`{}` or `null` in front of the arguments',
    findings: 'V2',
    said: {
      ...streamedInEach({ pieces: [look('{}', one)], finish: 'calls' }),
      openai: {
        stream: [
          chunk({
            tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: 'null' } }],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: one } }] }),
          ...chatEnd('tool_calls'),
        ],
      },
      google: cannotOccur,
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'a call without arguments, as `null`, is one with `{}`',
    findings: 'V2',
    said: {
      ...inEach({ pieces: [look('null')], finish: 'calls' }),
      google: {
        stream: [googleEvent([{ functionCall: { name: 'look', args: null } }]), googleEnd('STOP')],
      },
    },
    expected: { calls: [['look', '{}']] },
  },
  {
    name: 'a call that was cut before its arguments is not one without',
    findings: 'V2',
    said: {
      ...streamedInEach({ pieces: [text('Hm.'), look()], finish: 'length' }),
      google: {
        stream: [
          googleEvent([{ text: 'Hm.' }, { functionCall: { name: 'look', willContinue: true } }]),
          googleEnd('MAX_TOKENS'),
        ],
        // It has sent nothing of the call so far.
        expected: { text: 'Hm.', finish: 'length' },
      },
    },
    expected: { text: 'Hm.', calls: [['look', '']], finish: 'length' },
  },
  {
    name: 'a call whose provider says that its model broke it off is an error',
    findings: 'V2',
    said: {
      ...inNone,
      openai: {
        stream: [
          {
            error: {
              code: 'tool_use_failed',
              message: 'Failed to call a function.',
              failed_generation: '<look>',
            },
          },
        ],
      },
      google: {
        stream: [googleEnd('MALFORMED_FUNCTION_CALL')],
        whole: googleEnd('MALFORMED_FUNCTION_CALL'),
      },
      bedrock: { stream: converseEnd('malformed_tool_use') },
    },
    expected: { fails: {} },
  },
  {
    name: 'a call of a tool that was not offered is passed on',
    findings: 'V2, second look',
    said: {
      ...inEach({ pieces: [look(one)], finish: 'calls' }),
      google: {
        stream: [
          googleEvent([{ functionCall: { name: 'look', args: { q: 1 } } }]),
          googleEnd('UNEXPECTED_TOOL_CALL'),
        ],
        whole: googleEnd('UNEXPECTED_TOOL_CALL', [
          { functionCall: { name: 'look', args: { q: 1 } } },
        ]),
      },
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'the reason `stop` beside calls',
    findings: 'V2, Q7',
    said: inEach({ pieces: [look(one), find(two)], finish: 'stop' }),
    expected: { calls: twoCalls },
  },
  {
    name: 'the reason `tool_calls` without a call',
    findings: 'Q7',
    said: {
      ...inEach({ pieces: [text('Hm.')], finish: 'calls' }),
      // Neither has a reason for calls.
      responses: cannotOccur,
      google: cannotOccur,
    },
    expected: { text: 'Hm.' },
  },
  {
    name: 'Go’s empty values: an older call',
    findings: 'Q7',
    said: {
      ...inNone,
      openai: {
        stream: [
          chunk({ content: 'Hm.', tool_calls: null, function_call: { name: '', arguments: '' } }),
          ...chatEnd('stop'),
        ],
        whole: chatAnswer(
          { content: 'Hm.', tool_calls: null, function_call: { name: '', arguments: '' } },
          'stop',
        ),
      },
    },
    expected: { text: 'Hm.', lacks: /function_call/ },
  },
  {
    name: 'Go’s empty values: the fields of the other kinds of calls, texts and thoughts',
    findings: 'Q7, V14',
    said: {
      ...inNone,
      openai: emptyCustom(),
      responses: emptyFields(),
      anthropic: emptyBlocks(),
      google: emptyParts(),
      cohere: {
        stream: [
          cohereCall('start', 0, { id: '', type: '', function: { name: 'look', arguments: '' } }),
          cohereCall('delta', 0, { id: '', type: '', function: { name: '', arguments: one } }),
          { type: 'tool-call-end', index: 0 },
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: [['look', one]], lacks: /custom|thought_signature|annotations/ },
  },
]

function emptyCustom() {
  const custom = { name: '', input: '' }
  const called = { id: 'a', type: 'function', function: { name: 'look', arguments: one }, custom }
  return {
    stream: [
      chunk({ content: '', tool_calls: [{ index: 0, ...called }] }),
      ...chatEnd('tool_calls'),
    ],
    whole: chatAnswer({ content: '', refusal: '', tool_calls: [called] }, 'tool_calls'),
  }
}

function emptyFields() {
  const item = { type: 'function_call', id: 'a', call_id: 'call_0', name: 'look' }
  const empty = { input: '', encrypted_content: '', status: '', content: [], summary: [] }
  const begun = { ...empty, ...item, arguments: '' }
  const done = { ...empty, ...item, arguments: one }
  return {
    stream: [
      responseStart,
      event('output_item.added', { item_id: '', output_index: 0, item: begun }),
      event('function_call_arguments.delta', {
        item_id: '',
        output_index: 0,
        delta: one,
        text: '',
      }),
      event('output_item.done', { item_id: '', output_index: 0, item: done }),
      responseEnd([done]),
    ],
    whole: responseOf([done]),
  }
}

function emptyBlocks() {
  const empty = { text: '', thinking: '', signature: '', data: '', citations: null }
  const called = { ...empty, type: 'tool_use', id: 'call_0', name: 'look' }
  const delta = { ...empty, type: 'input_json_delta', partial_json: one }
  return {
    stream: [
      messageStart,
      ...messageBlock(0, { ...called, input: {} }, delta),
      ...messageEnd('tool_use', { stop_sequence: '' }),
    ],
    whole: messageAnswer([{ ...called, input: { q: 1 } }], 'tool_use'),
  }
}

function emptyParts() {
  const called = {
    text: '',
    thought: false,
    thoughtSignature: '',
    functionCall: { id: '', name: 'look', args: { q: 1 } },
  }
  return {
    stream: [googleEvent([called], { finishReason: '' }), googleEnd('STOP')],
    whole: googleEnd('STOP', [called]),
  }
}
