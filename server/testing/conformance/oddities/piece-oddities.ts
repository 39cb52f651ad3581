import { added, argumentsDelta, calls, entry, one, toolUse } from './call-words'
import { inNone, type Oddity } from './oddity'
import { look } from './scene'
import {
  chatEnd,
  cohereCall,
  cohereEnd,
  googleEnd,
  googleEvent,
  messageBlock,
  messageEnd,
  messageStart,
} from './spoken'
import { event, itemsOf, responseEnd, responseStart } from './spoken-response'
import { chatAnswer } from './whole'
import type { JsonObject } from '../../../src/wire/json-body'

const [lookItem = {}] = itemsOf({ pieces: [look(one)], finish: 'calls' })

/** Oddities of the pieces in which a stream has its calls. */
export const pieceOddities: readonly Oddity[] = [
  {
    name: 'the name of a call behind its arguments',
    findings: 'V6',
    said: {
      // The others name a call where it begins: their formats require it there, or repeat it.
      ...inNone,
      openai: {
        stream: [
          calls(entry(0, { id: 'a' }, { arguments: '{"q"' })),
          calls(entry(0, {}, { name: 'look', arguments: ':1}' })),
          ...chatEnd('tool_calls'),
        ],
      },
      responses: {
        stream: [
          responseStart,
          added(0, { ...lookItem, name: '' }),
          argumentsDelta(0, one),
          event('output_item.done', { output_index: 0, item: lookItem }),
          responseEnd([lookItem]),
        ],
      },
      cohere: {
        stream: [
          cohereCall('start', 0, { id: 'a', function: { name: '', arguments: '{"q"' } }),
          cohereCall('delta', 0, { function: { name: 'look', arguments: ':1}' } }),
          { type: 'tool-call-end', index: 0 },
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'id and name in each piece of a call',
    findings: 'V6',
    said: {
      ...inNone,
      openai: {
        stream: [
          calls(entry(0, { id: 'a' }, { name: 'look', arguments: '{"q"' })),
          calls(entry(0, { id: 'a' }, { name: 'look', arguments: ':1}' })),
          ...chatEnd('tool_calls'),
        ],
      },
      google: {
        stream: [
          googleEvent([partly({ jsonPath: '$.q', numberValue: 1 })]),
          googleEvent([{ functionCall: { name: 'look', willContinue: false } }]),
          googleEnd('STOP'),
        ],
      },
      cohere: {
        stream: [
          cohereCall('start', 0, { id: 'a', function: { name: 'look', arguments: '{"q"' } }),
          cohereCall('delta', 0, { id: 'a', function: { name: 'look', arguments: ':1}' } }),
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'arguments whole where a call begins, without pieces',
    findings: 'V3, V6',
    said: {
      ...inNone,
      openai: {
        stream: [
          calls(entry(0, { id: 'a' }, { name: 'look', arguments: { q: 1 } })),
          ...chatEnd('stop'),
        ],
      },
      responses: {
        stream: [
          responseStart,
          event('output_item.added', { output_index: 0, item: lookItem }),
          responseEnd([]),
        ],
      },
      anthropic: {
        stream: [
          messageStart,
          ...messageBlock(0, { ...toolUse(0), input: { q: 1 } }),
          ...messageEnd('tool_use'),
        ],
      },
      google: {
        stream: [
          googleEvent([{ functionCall: { name: 'look', args: { q: 1 } } }]),
          googleEnd('STOP'),
        ],
      },
      cohere: {
        stream: [
          cohereCall('start', 0, { id: 'a', function: { name: 'look', arguments: one } }),
          cohereEnd('TOOL_CALL'),
        ],
      },
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'arguments as an object',
    findings: 'V2, V6',
    said: {
      ...inNone,
      openai: {
        whole: chatAnswer(
          {
            content: null,
            tool_calls: [entry(undefined, { id: 'a' }, { name: 'look', arguments: { q: 1 } })],
          },
          'tool_calls',
        ),
        stream: [
          calls(entry(0, { id: 'a' }, { name: 'look', arguments: { q: 1 } })),
          ...chatEnd('stop'),
        ],
      },
    },
    expected: { calls: [['look', one]] },
  },
  {
    name: 'arguments in their last event only',
    findings: 'V3',
    said: {
      ...inNone,
      responses: {
        stream: [
          responseStart,
          added(0, lookItem),
          event('function_call_arguments.done', { output_index: 0, arguments: one }),
          event('output_item.done', { output_index: 0, item: lookItem }),
          responseEnd([lookItem]),
        ],
      },
    },
    expected: { calls: [['look', one]] },
  },
]

function partly(piece: JsonObject): JsonObject {
  return { functionCall: { name: 'look', partialArgs: [piece], willContinue: true } }
}
