import { added, argumentsDelta, calls, entry, one, toolUse, two, twoCalls } from './call-words'
import { cannotOccur, inNone, streamedInEach, type Oddity } from './oddity'
import { call, find, look } from './scene'
import {
  chatEnd,
  cohereCall,
  cohereEnd,
  converseDelta,
  converseEnd,
  converseStart,
  converseStop,
  googleEnd,
  googleEvent,
  messageEnd,
  messageStart,
} from './spoken'
import { event, itemsOf, responseEnd, responseStart } from './spoken-response'
import type { JsonObject } from '../../../src/wire/json-body'

const sameTool = [
  ['look', one],
  ['look', two],
] as const

const grown = (index: number, partial_json: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
})
const items = itemsOf({ pieces: [look(one), find(two)], finish: 'calls' })
const [lookItem = {}, findItem = {}] = items

/** Oddities of the numbers by which a stream tells its calls apart. */
export const numberOddities: readonly Oddity[] = [
  {
    name: 'calls of one tool on one number',
    findings: 'V6',
    said: {
      ...streamedInEach({
        pieces: [
          call({ at: 0, id: 'a', name: 'look' }, '{"q"', ':1}'),
          call({ at: 0, id: 'b', name: 'look' }, '{"q"', ':22}'),
        ],
        finish: 'calls',
      }),
      // Its calls have no numbers.
      google: cannotOccur,
    },
    expected: { calls: sameTool },
  },
  {
    name: 'the number of a call jumps, and does not begin at 0',
    findings: 'V6',
    said: {
      ...streamedInEach({
        pieces: [
          call({ at: 3, id: 'a', name: 'look' }, one),
          call({ at: 7, id: 'b', name: 'find' }, two),
        ],
        finish: 'calls',
      }),
      google: cannotOccur,
    },
    expected: { calls: twoCalls },
  },
  {
    name: 'calls without numbers',
    findings: 'V3, V6',
    said: {
      ...inNone,
      openai: {
        stream: [
          calls(entry(undefined, { id: 'a' }, { name: 'look', arguments: '{"q"' })),
          calls(entry(undefined, {}, { arguments: ':1}' })),
          calls(entry(undefined, { id: 'b' }, { name: 'find', arguments: two })),
          ...chatEnd('tool_calls'),
        ],
      },
      responses: {
        stream: [responseStart, ...items.flatMap(unnumbered), responseEnd(items)],
      },
      google: {
        stream: [
          googleEvent([{ functionCall: { name: 'look', args: { q: 1 } } }]),
          googleEvent([{ functionCall: { name: 'find', args: { q: 22 } } }]),
          googleEnd('STOP'),
        ],
      },
      cohere: {
        stream: [
          {
            ...cohereCall('start', 0, { id: 'a', function: { name: 'look', arguments: one } }),
            index: undefined,
          },
          { type: 'tool-call-end' },
          {
            ...cohereCall('start', 0, { id: 'b', function: { name: 'find', arguments: two } }),
            index: undefined,
          },
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: twoCalls },
  },
  {
    name: 'both calls in one event',
    findings: 'V6',
    said: {
      ...inNone,
      openai: {
        stream: [
          calls(
            entry(0, { id: 'a' }, { name: 'look', arguments: one }),
            entry(0, { id: 'b' }, { name: 'find', arguments: two }),
          ),
          ...chatEnd('stop'),
        ],
      },
      responses: { stream: [responseStart, responseEnd(items)] },
      anthropic: {
        stream: [
          {
            type: 'message_start',
            message: {
              id: 'm',
              content: [
                { ...toolUse(0), input: { q: 1 } },
                { ...toolUse(1), input: { q: 22 } },
              ],
            },
          },
          ...messageEnd('tool_use'),
        ],
      },
      google: {
        stream: [
          googleEnd('STOP', [
            { functionCall: { name: 'look', args: { q: 1 } } },
            { functionCall: { name: 'find', args: { q: 22 } } },
          ]),
        ],
      },
    },
    expected: { calls: twoCalls },
  },
  {
    name: 'pieces of two calls by turns',
    findings: 'V6',
    said: {
      // Its calls have no numbers.
      ...inNone,
      openai: {
        stream: [
          calls(
            entry(0, { id: 'a' }, { name: 'look', arguments: '' }),
            entry(1, { id: 'b' }, { name: 'find', arguments: '' }),
          ),
          ...['{"q"', ':'].flatMap((piece) =>
            [0, 1].map((at) => calls(entry(at, {}, { arguments: piece }))),
          ),
          calls(entry(0, {}, { arguments: '1}' }), entry(1, {}, { arguments: '22}' })),
          ...chatEnd('tool_calls'),
        ],
      },
      responses: {
        stream: [
          responseStart,
          added(0, lookItem),
          added(1, findItem),
          ...[0, 1].map((at) => argumentsDelta(at, '{"q":')),
          argumentsDelta(0, '1}'),
          argumentsDelta(1, '22}'),
          responseEnd(items),
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          ...[0, 1].map((index) => ({
            type: 'content_block_start',
            index,
            content_block: toolUse(index),
          })),
          ...[0, 1].map((index) => grown(index, '{"q":')),
          grown(0, '1}'),
          grown(1, '22}'),
          ...[0, 1].map((index) => ({ type: 'content_block_stop', index })),
          ...messageEnd('tool_use'),
        ],
      },
      bedrock: {
        stream: [
          converseStart(0, { toolUseId: 'a', name: 'look' }),
          converseStart(1, { toolUseId: 'b', name: 'find' }),
          ...[0, 1].map((at) => converseDelta(at, { toolUse: { input: '{"q":' } })),
          converseDelta(0, { toolUse: { input: '1}' } }),
          converseDelta(1, { toolUse: { input: '22}' } }),
          ...[0, 1].map(converseStop),
          ...converseEnd('tool_use'),
        ],
      },
      cohere: {
        stream: [
          cohereCall('start', 0, { id: 'a', function: { name: 'look', arguments: '{"q":' } }),
          cohereCall('start', 1, { id: 'b', function: { name: 'find', arguments: '{"q":' } }),
          cohereCall('delta', 0, { function: { arguments: '1}' } }),
          cohereCall('delta', 1, { function: { arguments: '22}' } }),
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: twoCalls },
  },
]

function unnumbered(item: JsonObject): JsonObject[] {
  return [
    event('output_item.added', { item: { ...item, arguments: '' } }),
    event('function_call_arguments.delta', { item_id: item['id'], delta: item['arguments'] }),
    event('output_item.done', { item }),
  ]
}
