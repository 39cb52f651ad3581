import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { CallArguments, firstValueIn, toCallInput } from './call-arguments'

/** Returns the text that is sent for `pieces` of arguments, and how they ended. */
function take(...pieces: string[]) {
  const args = new CallArguments()
  const text = pieces.map((piece) => args.add(piece)).join('')
  expect(args.text).toBe(text)
  const end = args.isWhole ? 'whole' : args.isOpen ? 'open' : 'neither'
  return [text, args.isEmptyObject ? 'empty' : end]
}

describe('finding V2: arguments are the first whole value, once', () => {
  test.each<[string[], string, string]>([
    [['{"q":1}{"q":1}'], '{"q":1}', 'whole'],
    [['{"q":1}', '{"q":1}'], '{"q":1}', 'whole'],
    [['{"q"', ':1}{"', 'q":1}'], '{"q":1}', 'whole'],
    [['{"q":1}}'], '{"q":1}', 'whole'],
    [['{"q":1}', '\n<|call|>'], '{"q":1}', 'whole'],
    [['{"q":"}{\\"}{"}', 'x'], '{"q":"}{\\"}{"}', 'whole'],
    [['[{"a":[1]},2]', '[3]'], '[{"a":[1]},2]', 'whole'],
    [['"{\\"q\\":1}"', '""'], '"{\\"q\\":1}"', 'whole'],
    [['{"q": 1'], '{"q": 1', 'open'],
    [['{"q": "}'], '{"q": "}', 'open'],
    [['{"q": "\\', '"}'], '{"q": "\\"}', 'open'],
    [['q=1'], 'q=1', 'neither'],
  ])('%j', (pieces, text, end) => {
    expect(take(...pieces)).toEqual([text, end])
  })

  test.each<[string[], string, string]>([
    [['{}', '{"q":1}'], '{"q":1}', 'whole'],
    [['{}{"q":1}'], '{"q":1}', 'whole'],
    [['null', ' ', '{"q":1}'], '{"q":1}', 'whole'],
    [['nu', 'll{"q":1}'], '{"q":1}', 'whole'],
    [['nu', 'mber'], 'number', 'neither'],
    [['{}', ' ', '{}'], '', 'empty'],
    [['{', '}'], '{}', 'whole'],
    [[' ', '\n'], '', 'neither'],
    [['null'], '', 'neither'],
  ])('before some: %j', (pieces, text, end) => {
    expect(take(...pieces)).toEqual([text, end])
  })

  test('any cut into pieces gives the same output', () => {
    const value = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { minKeys: 1 })
    const property = fc.property(value, fc.array(fc.nat(40), { maxLength: 8 }), (object, cuts) => {
      const text = JSON.stringify(object)
      const doubled = text + text
      const pieces: string[] = []
      let at = 0
      for (const length of cuts) {
        pieces.push(doubled.slice(at, at + length))
        at += length
      }
      pieces.push(doubled.slice(at))
      expect(take(...pieces)).toEqual([text, 'whole'])
    })
    fc.assert(property)
  })

  test('for a whole text', () => {
    expect(firstValueIn('{"q":1}{"q":1}')).toBe('{"q":1}')
    expect(firstValueIn('{}')).toBe('{}')
    expect(firstValueIn('{"q": 1')).toBe('{"q": 1')
  })
})

test.each([
  ['', {}],
  [' null ', {}],
  ['{"q":1}', { q: 1 }],
  ['{"q": 1', { INVALID_JSON: '{"q": 1' }],
  ['[1]', { INVALID_JSON: '[1]' }],
  ['"{}"', { INVALID_JSON: '"{}"' }],
])('finding V2: %p as an object is never one without arguments that it has: %j', (text, input) => {
  expect(toCallInput(text)).toEqual(input)
})
