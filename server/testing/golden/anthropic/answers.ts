import { start, opened, delta, closed, textBlock, called, revised, stop, ending } from './events'
import type { AnswerRow } from '../../conformance/conformance'

const call = (id: string, args: string) => ({
  id,
  type: 'function',
  function: { name: `do_${id}`, arguments: args },
})
/** The count of `ending` after `start`. */
const counted = { input: 12, output: 5 }
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
const format = 'anthropic-claude-v1'

const texts: AnswerRow[] = [
  {
    title: 'text: unicode over the borders of chunks',
    events: [start(), { type: 'ping' }, ...textBlock(0, 'Grüße', ' 👩‍👧', ' 日本'), ...ending()],
    message: { content: 'Grüße 👩‍👧 日本' },
    usage: counted,
  },
  {
    title: 'text: empty deltas and unknown events are nothing',
    events: [
      start(),
      { type: 'content_block_weather', index: 7 },
      ...textBlock(0, '', 'Hi', ''),
      opened(1, { type: 'server_tool_use', id: 's', name: 'search', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{}' }),
      delta(1, { type: 'citations_delta', citation: {} }),
      closed(1),
      ...ending(),
    ],
    message: { content: 'Hi' },
  },
  ...(['stop_sequence', 'pause_turn'] as const).map((reason) => ({
    title: `shape: ${reason} is a stop`,
    events: [start(), ...textBlock(0, 'Hi'), ...ending(reason)],
    message: { content: 'Hi' },
    finish: 'stop',
  })),
  ...(['max_tokens', 'model_context_window_exceeded', 'a_new_reason'] as const).map((reason) => ({
    title: `shape: ${reason} is a length`,
    events: [start(), ...textBlock(0, 'Hi'), ...ending(reason)],
    message: { content: 'Hi' },
    finish: 'length',
  })),
  {
    title: 'shape: a refusal after some text',
    events: [start(), ...textBlock(0, 'I'), ...ending('refusal')],
    message: { content: 'I' },
    finish: 'content_filter',
  },
  {
    title: 'shape: JSON by a tool is the content',
    events: [
      start(),
      opened(0, { type: 'tool_use', id: 'j', name: 'tollgate_json_answer', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"a"' }),
      delta(0, { type: 'input_json_delta', partial_json: ':1}' }),
      closed(0),
      ...ending('tool_use'),
    ],
    message: { content: '{"a":1}' },
    finish: 'stop',
  },
]

const tools: AnswerRow[] = [
  {
    title: 'tools: text, then two calls at once, one without arguments',
    events: [
      start(),
      ...textBlock(0, 'Wait.'),
      ...called(1, 'a', '', '{"x"', ':1}'),
      ...called(2, 'b', ''),
      ...ending('tool_use'),
    ],
    message: { content: 'Wait.', tool_calls: [call('a', '{"x":1}'), call('b', '{}')] },
    finish: 'tool_calls',
    usage: counted,
  },
  {
    title: 'tools: two calls whose pieces take turns',
    events: [
      start(),
      opened(0, { type: 'tool_use', id: 'a', name: 'do_a', input: {} }),
      opened(1, { type: 'tool_use', id: 'b', name: 'do_b', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x"' }),
      delta(1, { type: 'input_json_delta', partial_json: '{}' }),
      delta(0, { type: 'input_json_delta', partial_json: ':1}' }),
      closed(0),
      closed(1),
      ...ending('end_turn'),
    ],
    message: { tool_calls: [call('a', '{"x":1}'), call('b', '{}')] },
    finish: 'tool_calls',
  },
  {
    title: 'tools: the whole input at the start, without an id',
    events: [
      start(),
      opened(0, { type: 'tool_use', name: 'do_a', input: { x: 1 } }),
      closed(0),
      ...ending('tool_use'),
    ],
    message: { tool_calls: [{ ...call('a', '{"x":1}'), id: 'call_1' }] },
    finish: 'tool_calls',
  },
]

const reasoning: AnswerRow[] = [
  {
    title: 'reasoning: signed, hidden, then text',
    events: [
      start(),
      opened(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Let me' }),
      delta(0, { type: 'thinking_delta', thinking: ' see.' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      closed(0),
      opened(1, { type: 'redacted_thinking', data: 'aGlk' }),
      closed(1),
      ...textBlock(2, 'Yes'),
      ...ending(),
    ],
    message: {
      content: 'Yes',
      reasoning_content: 'Let me see.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Let me see.', signature: 'c2ln', format, index: 0 },
        { type: 'reasoning.encrypted', data: 'aGlk', format, index: 1 },
      ],
    },
    usage: counted,
  },
]

const broken = { code: 'provider_error', status: 502, retryable: false }
const inside: AnswerRow[] = [
  {
    title: 'inside a 200: an error as first event',
    events: [overloaded],
    error: { code: 'provider_error', status: 503, retryable: true },
  },
  {
    title: 'inside a 200: an error after text, with what was used so far',
    events: [
      start(),
      opened(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'one two three' }),
      { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
    ],
    error: { code: 'provider_error', status: 502 },
    usage: { input: 12, output: 3, estimated: true },
  },
  {
    title: 'inside a 200: too long after all',
    events: [
      start(),
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 205000 tokens > 200000 maximum',
        },
      },
    ],
    error: { code: 'context_length_exceeded', status: 400 },
  },
  { title: 'inside a 200: nothing', events: [], error: broken },
  { title: 'inside a 200: no JSON', events: [start(), '{"type":'], error: broken },
  { title: 'inside a 200: no object', events: ['7'], error: broken },
  {
    title: 'inside a 200: an event with a wrong shape',
    events: [start(), { type: 'content_block_delta', index: 'first', delta: 7 }],
    error: broken,
  },
  {
    title: 'inside a 200: a stop without a reason',
    events: [start(), ...textBlock(0, 'Hi'), stop],
    error: broken,
  },
  {
    title: 'finding V5: a reason without the stop',
    events: [start(), ...textBlock(0, 'Hi'), revised('end_turn', { output_tokens: 5 })],
    message: { content: 'Hi' },
    usage: counted,
  },
  {
    title: 'inside a 200: what comes after the stop is not read',
    events: [start(), ...textBlock(0, 'Hi'), ...ending(), overloaded],
    message: { content: 'Hi' },
    usage: counted,
  },
]

export const answers: readonly AnswerRow[] = [...texts, ...tools, ...reasoning, ...inside]
