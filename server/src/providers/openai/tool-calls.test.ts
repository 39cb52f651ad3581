import { describe, expect, test } from 'bun:test'
import { ToolCallDeltas } from './tool-calls'
import type { FinishReason } from '../../wire/finish-reason'
import type { JsonObject } from '../../wire/json-body'

function ended(entries: readonly JsonObject[], reason: FinishReason = 'tool_calls') {
  let created = 0
  const calls = new ToolCallDeltas({ newCallId: () => `call_made_${++created}` })
  const deltas = entries.flatMap((entry) => calls.next(entry))
  const end = calls.end(reason)
  return { deltas: [...deltas, ...end.deltas], reason: end.reason, hasUnnamed: calls.hasUnnamed }
}

const relayed = (entries: readonly JsonObject[]) => ended(entries).deltas

const head = (index: number, id: string, name: string) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: '' },
})
const piece = (index: number, text: string) => ({ index, function: { arguments: text } })

test('R11: fragments pass as they are', () => {
  const entries = [head(0, 'a', 'f'), piece(0, '{"x"'), piece(0, ':1}')]
  expect(relayed(entries)).toEqual(entries)
})

test('R11: a whole call becomes its name, then its arguments', () => {
  const entry = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
})

const entry = (id: string) => ({ id, function: { name: 'f', arguments: '{}' } })

test('R11: without index and type, each id is a call of its own', () => {
  expect(relayed([entry('a'), entry('b')])).toEqual([
    head(0, 'a', 'f'),
    head(1, 'b', 'f'),
    piece(0, '{}'),
    piece(1, '{}'),
  ])
})

test('R11: without index and id, a name begins a call and the rest continues it', () => {
  const named = { function: { name: 'f', arguments: '' } }
  const more = { function: { arguments: '{}' } }
  expect(relayed([named, more, named, more])).toEqual([
    head(0, 'call_made_1', 'f'),
    head(1, 'call_made_2', 'f'),
    piece(0, '{}'),
    piece(1, '{}'),
  ])
})

test('R11: indexes count up from 0, for any first index of the provider', () => {
  expect(relayed([head(3, 'a', 'f'), head(7, 'b', 'g'), piece(3, '1'), piece(7, '2')])).toEqual([
    head(0, 'a', 'f'),
    head(1, 'b', 'g'),
    piece(0, '1'),
    piece(1, '2'),
  ])
})

test('R11: repeated names and ids are sent once', () => {
  const again = { ...head(0, 'a', 'f'), function: { name: 'f', arguments: '{}' } }
  expect(relayed([head(0, 'a', 'f'), again])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
})

test('R12: a call without arguments has `{}`, one with them does not', () => {
  expect(relayed([head(0, 'a', 'f'), head(1, 'b', 'g'), piece(1, '{"x":1}')])).toEqual([
    head(0, 'a', 'f'),
    head(1, 'b', 'g'),
    piece(1, '{"x":1}'),
    piece(0, '{}'),
  ])
})

test('R12: `null` and blanks in place of arguments mean no arguments', () => {
  for (const none of ['null', ' ', null]) {
    const entry = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: none } }
    expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
  }
})

test('arguments that are an object become their text', () => {
  const entry = { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }
  expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{"x":1}')])
})

test('passes further fields of a call on with its first chunk', () => {
  const extra_content = { google: { thought_signature: 's' } }
  expect(relayed([{ ...head(0, 'a', 'f'), extra_content }])[0]).toEqual({
    ...head(0, 'a', 'f'),
    extra_content,
  })
})

/** The entries of calls as some servers send them. */
const entryOf = (index: number, id: string, called: JsonObject) => ({
  index,
  ...(id !== '' && { id }),
  type: 'function',
  function: called,
})
const look = (args: string) => ({ name: 'look', arguments: args })

describe('finding V6: a call is known by its index and its id', () => {
  test.each([[undefined], [''], [null]])(
    'a name that comes late, behind %p, is in the first delta',
    (name) => {
      const begun = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }
      const more = { index: 0, function: look('{"q":1}') }
      expect(relayed([begun, more])).toEqual([head(0, 'call_1', 'look'), piece(0, '{"q":1}')])
    },
  )

  test('arguments and fields before the name wait for it', () => {
    const entries = [
      { index: 0, id: 'call_1', extra_content: { a: 1 } },
      piece(0, '{"q"'),
      piece(0, ':1'),
      { index: 0, function: { name: 'look' } },
      piece(0, '}'),
    ]
    expect(relayed(entries)).toEqual([
      { ...head(0, 'call_1', 'look'), extra_content: { a: 1 } },
      piece(0, '{"q":1'),
      piece(0, '}'),
    ])
  })

  test('a call without any name is dropped; arguments without one are a fault of the provider', () => {
    for (const none of ['', '{}', 'null', ' ']) {
      const end = ended([entryOf(0, 'a', { name: '', arguments: none })])
      expect(end).toEqual({ deltas: [], reason: 'stop', hasUnnamed: false })
    }
    expect(ended([entryOf(0, 'a', { name: '', arguments: '{"q":1}' })]).hasUnnamed).toBeTrue()
  })

  test('two ids on one index are two calls', () => {
    const both = [entryOf(0, 'a', look('{"q":1}')), entryOf(0, 'b', look('{"q":2}'))]
    expect(relayed(both)).toEqual([
      head(0, 'a', 'look'),
      piece(0, '{"q":1}'),
      head(1, 'b', 'look'),
      piece(1, '{"q":2}'),
    ])
  })

  test('two ids on one index, in pieces that take turns', () => {
    const entries = [
      entryOf(0, 'a', look('')),
      entryOf(0, 'b', { name: 'other', arguments: '' }),
      entryOf(0, 'a', { arguments: '{"q":1}' }),
      entryOf(0, 'b', { arguments: '{"q":2}' }),
    ]
    expect(relayed(entries)).toEqual([
      head(0, 'a', 'look'),
      head(1, 'b', 'other'),
      piece(0, '{"q":1}'),
      piece(1, '{"q":2}'),
    ])
  })

  test('an id that is another in each piece is of one call', () => {
    const entries = [
      entryOf(0, 'a', look('')),
      entryOf(0, 'b', { arguments: '{"q"' }),
      entryOf(0, 'c', look(':1}')),
    ]
    expect(relayed(entries)).toEqual([head(0, 'a', 'look'), piece(0, '{"q"'), piece(0, ':1}')])
  })

  test.each(['', 'a'])(
    'a call that is repeated whole, id %p, is one; with other arguments it is another',
    (id) => {
      const first = entryOf(0, id, look('{"q":1}'))
      expect(relayed([first, entryOf(0, id, look('{"q": 1}'))])).toHaveLength(2)
      expect(relayed([first, entryOf(0, id, look('{"q":2}'))])).toHaveLength(4)
      expect(relayed([first, entryOf(0, id, look(''))])).toHaveLength(2)
    },
  )

  test('a name that comes behind another call leaves a call without arguments `{}`', () => {
    const entries = [
      entryOf(0, 'a', { name: '', arguments: '{}' }),
      entryOf(1, 'b', look('{"q":1}')),
      entryOf(0, 'a', { name: 'look' }),
    ]
    expect(relayed(entries)).toEqual([
      head(0, 'b', 'look'),
      piece(0, '{"q":1}'),
      head(1, 'a', 'look'),
      piece(1, '{}'),
    ])
  })

  test('an id that comes late is that of its call, also without an index', () => {
    const entries = [
      entryOf(0, '', look('')),
      entryOf(0, 'a', { arguments: '{"q"' }),
      entryOf(1, 'b', look('{}')),
      { id: 'a', function: { arguments: ':1}' } },
    ]
    const first = relayed(entries).filter(({ index }) => index === 0)
    expect(first.slice(1)).toEqual([piece(0, '{"q"'), piece(0, ':1}')])
  })

  test('50,000 calls, and as many repetitions of a long one, do not hold the process', () => {
    const many = Array.from({ length: 50_000 }, (_, at) => entryOf(at, `${at}`, look('{"q":1}')))
    expect(relayed([...many, ...many])).toHaveLength(100_000)
    const long = look(JSON.stringify({ q: 'x'.repeat(1_000_000) }))
    const again = Array.from({ length: 50_000 }, () => entryOf(0, 'a', look('')))
    expect(relayed([entryOf(0, 'a', long), ...again])).toHaveLength(2)
  })

  test('finding Q7: the type decides where a call has both forms', () => {
    const both = { index: 0, id: 'a', type: 'function', custom: { name: '', input: '' } }
    expect(relayed([{ ...both, function: look('{"q":1}') }])).toEqual([
      head(0, 'a', 'look'),
      piece(0, '{"q":1}'),
    ])
  })
})

describe('finding V7: one answer with one id twice', () => {
  test('has two', () => {
    const both = [entryOf(0, 'call_0', look('{"q":1}')), entryOf(1, 'call_0', look('{"q":2}'))]
    expect(relayed(both)).toEqual([
      head(0, 'call_0', 'look'),
      piece(0, '{"q":1}'),
      head(1, 'call_0__repeat__2', 'look'),
      piece(1, '{"q":2}'),
    ])
  })
})

describe('finding V2: the ends of calls', () => {
  test('calls that all open with `{}` have the arguments that come behind them', () => {
    const opened = [entryOf(0, 'a', look('{}')), entryOf(1, 'b', look('{}'))]
    const heads = [head(0, 'a', 'look'), head(1, 'b', 'look')]
    const pieces = [piece(0, '{"q":1}'), piece(1, '{"q":2}')]
    expect(ended([...opened, ...pieces]).deltas).toEqual([...heads, ...pieces])
    const turned = pieces.toReversed()
    expect(ended([...opened, ...turned]).deltas).toEqual([...heads, ...turned])
  })

  test('one with `{}` ends as soon as arguments of another come without', () => {
    expect(
      relayed([entryOf(0, 'a', look('{}')), entryOf(1, 'b', look('')), piece(1, '{"q":2')]),
    ).toEqual([head(0, 'a', 'look'), head(1, 'b', 'look'), piece(0, '{}'), piece(1, '{"q":2')])
  })

  test('arguments that are doubled go out once', () => {
    const entries = [head(0, 'a', 'look'), piece(0, '{"q":1}'), piece(0, '{"q":1}')]
    expect(ended(entries)).toMatchObject({
      deltas: [head(0, 'a', 'look'), piece(0, '{"q":1}')],
      reason: 'tool_calls',
    })
  })

  test.each<[string, FinishReason, [FinishReason, string]]>([
    // Whatever a provider says of calls that broke off.
    ['{"q": 1', 'length', ['length', '{"q": 1']],
    ['{"q": 1', 'tool_calls', ['length', '{"q": 1']],
    ['{"q": 1', 'stop', ['length', '{"q": 1']],
    ['', 'length', ['length', '']],
    ['', 'content_filter', ['content_filter', '']],
    ['', 'stop', ['tool_calls', '{}']],
    // Whole ones can be run.
    ['{"q": 1}', 'length', ['tool_calls', '{"q": 1}']],
    ['{}', 'length', ['tool_calls', '{}']],
    ['{"q": 1}', 'content_filter', ['content_filter', '{"q": 1}']],
    // No JSON at all: its caller can tell the model.
    ['q=1', 'tool_calls', ['tool_calls', 'q=1']],
    ['q=1', 'length', ['length', 'q=1']],
  ])('%p behind %s end in %p', (args, provider, [reason, text]) => {
    const end = ended([head(0, 'a', 'look'), piece(0, args)], provider)
    expect([end.reason, end.deltas.slice(1)]).toEqual([reason, text === '' ? [] : [piece(0, text)]])
  })

  test('one of two calls that broke off is enough', () => {
    const entries = [head(0, 'a', 'f'), piece(0, '{"q":1'), head(1, 'b', 'g'), piece(1, '{}')]
    expect(ended(entries).reason).toBe('length')
  })

  test('a custom tool’s text is whole, unless the answer was cut', () => {
    const custom = { index: 0, id: 'a', type: 'custom', custom: { name: 'run', input: 'ls {' } }
    expect(ended([custom]).reason).toBe('tool_calls')
    expect(ended([custom], 'length').reason).toBe('length')
  })
})
