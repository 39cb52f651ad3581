import { describe, expect, test } from 'bun:test'
import { isPacked, joinDetails, packDetails, ThoughtUnpacker } from './reasoning-details'

const format = 'anthropic-claude-v1'
const piece = (fields: object, index = 0) => ({ type: 'reasoning.text', format, index, ...fields })

describe('finding V20: fragments of one thought are joined', () => {
  test('a text in pieces, and the signature behind it', () => {
    const fragments = [
      piece({ text: 'I ' }),
      piece({ text: 'think.' }),
      piece({ signature: 'c2ln' }),
    ]
    expect(joinDetails(fragments)).toEqual([piece({ text: 'I think.', signature: 'c2ln' })])
    expect(fragments[0]).toEqual(piece({ text: 'I ' }))
  })

  test('a signature in pieces', () => {
    const fragments = [
      piece({ text: 'Hm.' }),
      piece({ signature: 'c2' }),
      piece({ signature: 'ln' }),
    ]
    expect(joinDetails(fragments)).toEqual([piece({ text: 'Hm.', signature: 'c2ln' })])
  })

  test('a summary in pieces, before the encrypted content', () => {
    const summary = { type: 'reasoning.summary', format: 'openai-responses-v1', index: 0 }
    const encrypted = { ...summary, type: 'reasoning.encrypted', data: 'gAAA' }
    const fragments = [{ ...summary, summary: 'In ' }, { ...summary, summary: 'short.' }, encrypted]
    expect(joinDetails(fragments)).toEqual([{ ...summary, summary: 'In short.' }, encrypted])
  })

  test('thoughts whose fragments take turns', () => {
    const fragments = [
      piece({ text: 'A' }, 0),
      piece({ text: 'C' }, 1),
      piece({ text: 'B' }, 0),
      piece({ signature: 'one' }, 0),
      piece({ text: null, signature: 'two' }, 1),
    ]
    expect(joinDetails(fragments)).toEqual([
      piece({ text: 'AB', signature: 'one' }, 0),
      piece({ text: 'C', signature: 'two' }, 1),
    ])
  })

  test('without an index, a type or a text', () => {
    expect(
      joinDetails([
        { format, text: 'I ' },
        { format, text: 'think.' },
        { format, signature: 's' },
      ]),
    ).toEqual([{ type: 'reasoning.text', format, text: 'I think.', signature: 's' }])
    expect(joinDetails([piece({ signature: 's' })])).toEqual([piece({ signature: 's' })])
  })

  test('complete thoughts stay separate, for any index', () => {
    const details = [
      piece({ text: 'A', signature: 'one' }),
      piece({ text: 'B', signature: 'two' }),
      { type: 'reasoning.encrypted', data: 'x', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'y', format, index: 0 },
      { type: 'reasoning.summary', summary: 'S', format, index: 0 },
    ]
    expect(joinDetails(details)).toEqual(details)
  })

  test('thoughts of different formats stay apart', () => {
    const details = [piece({ text: 'A' }), { ...piece({ signature: 's' }), format: 'other' }]
    expect(joinDetails(details)).toEqual(details)
  })

  test.each([[undefined], [null], ['text'], [{}], [[1, null, 'a']]])('%p has none', (value) => {
    expect(joinDetails(value)).toEqual([])
  })
})

const unpack = (packed: string | undefined) => new ThoughtUnpacker().unpack(packed ?? '')
const toPacked = (text: string) => `tg1.${Buffer.from(text).toString('base64')}`

describe('packed thoughts', () => {
  const thoughts = [piece({ text: 'Hm — ja.', signature: 'x'.repeat(20_000) })]

  test('are unpacked unchanged, however long they are', () => {
    const packed = packDetails(thoughts)
    expect(isPacked(packed)).toBeTrue()
    expect(unpack(packed)).toEqual(thoughts)
  })

  test('with a missing part are dropped', () => {
    expect(unpack(packDetails(thoughts)?.slice(0, -10))).toEqual([])
  })

  test('in too many pieces for any provider are dropped', () => {
    expect(unpack(toPacked(`[${'[],'.repeat(50_000)}{}]`))).toEqual([])
  })

  test('finding V4: thoughts that would not be unpacked are not packed', () => {
    const pieces = Array.from({ length: 3000 }, (_, index) => piece({ text: 'a' }, index))
    const deep: unknown = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)
    const long: unknown = JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`)
    const named: object = JSON.parse('{"__proto__":1}')
    const most = pieces.slice(0, 1900)
    expect(unpack(packDetails(most))).toEqual(most)
    expect(packDetails(pieces)).toBeUndefined()
    expect(packDetails([piece({ deep })])).toBeUndefined()
    expect(packDetails([piece({ long, signature: 'x'.repeat(20_000) })])).toBeUndefined()
    expect(packDetails([piece(named)])).toBeUndefined()
  })

  test('finding V4: the thoughts of one request have at most the structure of its body', () => {
    // Each of them is short enough to be parsed without being counted first.
    const packed = toPacked(`[${'[],'.repeat(1000)}{"type":"reasoning.text"}]`)
    const unpacker = new ThoughtUnpacker()
    const found = Array.from({ length: 1000 }, () => unpacker.unpack(packed).length)
    expect(found.filter((count) => count > 0)).toHaveLength(99)
    expect(found.slice(99)).toEqual(Array.from({ length: 901 }, () => 0))
    expect(unpack(packed)).toHaveLength(1)
  })

  test('are not a signature of a provider', () => {
    for (const text of ['c2ln', 'gAAAAABo', '', undefined]) expect(isPacked(text)).toBeFalse()
  })
})
