import { start, opened, delta, closed, textBlock, called, ending, stop } from './events'
import type { AnswerRow } from '../../conformance/conformance'
import type { JsonObject } from '../../../src/wire/json-body'

const call = (id: string, args: string) => ({
  id,
  type: 'function',
  function: { name: `do_${id}`, arguments: args },
})

/** The start of an answer that is there already, with whatever it holds. */
const messageStart = (content: JsonObject[], own: JsonObject = {}) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content, ...own },
})
const codeResult = {
  type: 'code_execution_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: {
    type: 'code_execution_result',
    stdout: '1\n',
    stderr: '',
    return_code: 0,
    content: [],
  },
}
const useOfTool = (id: string, input: JsonObject) => ({
  type: 'tool_use',
  id,
  name: `do_${id}`,
  input,
  caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
})

const completeStarts: AnswerRow[] = [
  {
    title: 'finding P6: an answer given whole in message_start',
    events: [
      messageStart([codeResult, useOfTool('a', { id: 'c_1' })], {
        stop_reason: 'tool_use',
        usage: { input_tokens: 0, output_tokens: 0 },
      }),
      stop,
    ],
    message: { content: null, tool_calls: [call('a', '{"id":"c_1"}')] },
    finish: 'tool_calls',
    usage: {},
  },
  {
    title: 'finding P6: text, thoughts and a call without input in message_start',
    events: [
      messageStart(
        [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'text', text: 'Look:' },
          useOfTool('a', {}),
        ],
        { stop_reason: 'tool_use', usage: { input_tokens: 12, output_tokens: 5 } },
      ),
      stop,
    ],
    message: {
      content: 'Look:',
      reasoning_content: 'Hm.',
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: 'Hm.',
          signature: 'c2ln',
          format: 'anthropic-claude-v1',
          index: 0,
        },
      ],
      tool_calls: [call('a', '{}')],
    },
    finish: 'tool_calls',
    usage: { input: 12, output: 5 },
  },
  {
    title: 'finding P6: an answer that goes on after what message_start holds',
    events: [
      messageStart([useOfTool('a', { n: 1 })], { usage: { input_tokens: 12, output_tokens: 1 } }),
      ...called(1, 'b', '{"n"', ':2}'),
      ...ending('tool_use'),
    ],
    message: { content: null, tool_calls: [call('a', '{"n":1}'), call('b', '{"n":2}')] },
    finish: 'tool_calls',
    usage: { input: 12, output: 5 },
  },
]

const other = { ...start(), message: { ...start().message, id: 'msg_2' } }
const isNone = { code: 'provider_error', status: 502 }

const spliced: AnswerRow[] = [
  {
    title: 'finding P8: a start that is repeated is one start',
    events: [start(), start(), ...textBlock(0, 'Hi'), ...ending()],
    message: { content: 'Hi' },
    usage: { input: 12, output: 5 },
  },
  {
    title: 'finding P8: a second message inside a call is no answer',
    events: [
      start(),
      opened(0, { type: 'tool_use', id: 'a', name: 'do_a', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"city":"Pa' }),
      other,
      opened(0, { type: 'tool_use', id: 'b', name: 'do_b', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"city":"Rome"}' }),
      closed(0),
      ...ending('tool_use'),
    ],
    error: isNone,
  },
  {
    title: 'finding P8: a second message behind the text of another is no answer',
    events: [start(), ...textBlock(0, 'One'), other, ...textBlock(0, 'Two'), ...ending()],
    error: isNone,
  },
  {
    title: 'finding P8: a block that starts inside itself is no answer',
    events: [
      start(),
      opened(0, { type: 'tool_use', id: 'a', name: 'do_a', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"city":"Pa' }),
      ...called(0, 'b', '{}'),
      ...ending('tool_use'),
    ],
    error: isNone,
  },
]

const cites = (index: number, citation: JsonObject) =>
  delta(index, { type: 'citations_delta', citation })
const found = {
  type: 'web_search_result_location',
  url: 'https://a.example/one',
  title: 'One',
  cited_text: 'It is one.',
  encrypted_index: 'RW8=',
}
const annotation = (own: JsonObject) => ({ type: 'url_citation', url_citation: own })

const cited: AnswerRow[] = [
  {
    title: 'finding P10: pages that a text cites are annotations at their place',
    events: [
      start(),
      opened(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"query":"one"}' }),
      closed(0),
      opened(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
      closed(1),
      ...textBlock(2, 'So: '),
      opened(3, { type: 'text', text: '', citations: [] }),
      cites(3, found),
      delta(3, { type: 'text_delta', text: 'it is one' }),
      cites(3, { ...found, url: 'https://b.example/', title: null }),
      closed(3),
      ...textBlock(4, '.'),
      ...ending(),
    ],
    message: {
      content: 'So: it is one.',
      annotations: [
        annotation({
          url: 'https://a.example/one',
          title: 'One',
          start_index: 4,
          end_index: 13,
          content: 'It is one.',
        }),
        annotation({
          url: 'https://b.example/',
          title: '',
          start_index: 4,
          end_index: 13,
          content: 'It is one.',
        }),
      ],
    },
  },
  {
    title: 'finding P10: documents and search results that a text cites',
    events: [
      start(),
      opened(0, { type: 'text', text: '', citations: [] }),
      delta(0, { type: 'text_delta', text: 'One' }),
      cites(0, {
        type: 'char_location',
        cited_text: 'uno',
        document_index: 0,
        document_title: 'Numbers',
        start_char_index: 0,
        end_char_index: 3,
        file_id: 'file_1',
      }),
      cites(0, {
        type: 'search_result_location',
        source: 'https://c.example/',
        title: 'C',
        cited_text: 'uno',
        search_result_index: 0,
        start_block_index: 0,
        end_block_index: 1,
      }),
      cites(0, { type: 'a_new_location' }),
      closed(0),
      ...ending(),
    ],
    message: {
      content: 'One',
      annotations: [
        {
          type: 'file_citation',
          file_citation: {
            file_id: 'file_1',
            filename: 'Numbers',
            index: 0,
            start_index: 0,
            end_index: 3,
            quote: 'uno',
            location: { type: 'char_location', start: 0, end: 3 },
          },
        },
        annotation({
          url: 'https://c.example/',
          title: 'C',
          start_index: 0,
          end_index: 3,
          content: 'uno',
        }),
      ],
    },
  },
]

const strange: AnswerRow[] = [
  {
    title: 'blocks, deltas and events of tomorrow are nothing',
    events: [
      start(),
      { type: 'message_weather', message: 7 },
      opened(0, { type: 'compaction', content: null }),
      delta(0, { type: 'compaction_delta', content: 'a summary' }),
      closed(0),
      opened(1, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
      closed(1),
      opened(2, {
        type: 'mcp_tool_result',
        tool_use_id: 'm',
        content: [{ type: 'text', text: 'x' }],
      }),
      delta(2, { type: 'mcp_delta', text: 7, thinking: null, partial_json: {} }),
      closed(2),
      opened(3, { type: 'a_new_block', id: 7, name: null, input: [], text: {}, thinking: 1 }),
      closed(3),
      ...textBlock(4, 'Hi'),
      ...ending(),
    ],
    message: { content: 'Hi' },
  },
]

/** Oddities that providers of this format have shown, or may show. */
export const oddAnswers: readonly AnswerRow[] = [
  ...completeStarts,
  ...spliced,
  ...cited,
  ...strange,
]
