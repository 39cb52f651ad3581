import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { charactersOf, TextSize } from './text-size'

test.each([
  ['', 0, 0],
  ['Hello, world!', 13, 4],
  ['  two\n words ', 13, 2],
  ['{"a":1}', 7, 7],
  ['Привет, мир', 20, 3],
  ['你好吗', 9, 3],
  ['QUJDREVGR0hJSktM', 16, 2],
])('%p has %p bytes and %p words', (text, bytes, words) => {
  const size = new TextSize()
  size.add(text)
  expect([size.bytes, size.words]).toEqual([bytes, words])
})

test('characters are Unicode code points, and counted only if requested', () => {
  const property = fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, at) => {
    const [counted, uncounted] = [new TextSize({ characters: true }), new TextSize()]
    // Also where a pair of surrogates is divided between two pieces.
    for (const piece of [text.slice(0, at), text.slice(at)]) {
      counted.add(piece)
      uncounted.add(piece)
    }
    expect([counted.characters, uncounted.characters]).toEqual([Array.from(text).length, 0])
    expect(charactersOf(text)).toBe(Array.from(text).length)
  })
  fc.assert(property, { numRuns: 2000 })
})

test('is the same in one piece and in many', () => {
  const property = fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
    const [one, many] = [new TextSize(), new TextSize()]
    one.add(pieces.join(''))
    for (const piece of pieces) many.add(piece)
    expect([many.bytes, many.words]).toEqual([one.bytes, one.words])
    expect(many.tokensAtLeast).toBe(one.tokensAtLeast)
  })
  fc.assert(property)
})

const plainText = { disallowedSpecial: new Set<string>() }

function minTokens(text: string): number {
  const size = new TextSize()
  size.add(text)
  return size.tokensAtLeast
}

const toEscape = (letter: string) => `\\u0${letter.charCodeAt(0).toString(16)}`

const texts: [string, string, number][] = [
  ['prose', "I don't think that's what she'd have said; it isn't like her. ".repeat(20), 0.7],
  ['a name of many parts', 'https://www.example.com/a/b.html?x=1&y=2 e.g. U.S.A. '.repeat(20), 0.4],
  ['code', 'for (let i = 0; i < n; i++) {\n    total += prices[i].amount;\n}\n'.repeat(20), 0.3],
  ['tables', `|${'-'.repeat(60)}|${' '.repeat(80)}|\n`.repeat(40), 0.1],
  ['German', 'Die Straßenverkehrsordnung regelt Geschwindigkeitsbegrenzungen. '.repeat(20), 0.2],
  ['Russian', 'Сегодня мы поговорим о погоде и о международном положении. '.repeat(20), 0.5],
  ['Arabic', 'كان الميناء هادئا عندما عدنا في المساء. '.repeat(20), 0.4],
  ['Hindi', 'आज मौसम बहुत अच्छा है और हम बाहर जा रहे हैं। '.repeat(20), 0.4],
  ['Thai', 'วันนี้อากาศดีมากเราจะไปเดินเล่นที่สวนสาธารณะ'.repeat(20), 0.05],
  ['Chinese', '今天天气很好，我们去公园散步吧。中华人民共和国成立于一九四九年。'.repeat(20), 0.1],
  ['Japanese', '今日はとても天気がいいので、公園を散歩しましょう。'.repeat(20), 0.1],
  ['Korean', '오늘은 날씨가 아주 좋아서 공원에서 산책을 하려고 합니다. '.repeat(20), 0.3],
  ['base64', 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo'.repeat(40), 0.02],
  [
    'escapes',
    JSON.stringify('Привет, мир')
      .replaceAll(/[^\x20-\x7e]/g, toEscape)
      .repeat(20),
    0.02,
  ],
]
describe('M02: there are at least as many tokens', () => {
  // The share that is found says that the bound is of use.
  test.each(texts)('%s', (_what, text, share) => {
    for (const { countTokens } of [o200k, cl100k]) {
      const tokens = countTokens(text, plainText)
      expect(minTokens(text)).toBeLessThanOrEqual(tokens)
    }
    expect(minTokens(text)).toBeGreaterThanOrEqual(share * o200k.countTokens(text, plainText))
  })

  test.each([
    ['o200k_base', o200k, 199_998],
    ['cl100k_base', cl100k, 100_256],
  ] as const)('hardly any token of %s is two', (_name, { decode }, size) => {
    const wrong: string[] = []
    for (let id = 0; id < size; id++) {
      // One that begins within a letter goes on with a run that has been counted.
      const text = decode([id]).replace(/^\uFFFD+/, '')
      if (minTokens(text) > 1) wrong.push(text)
    }
    // "ありがとうございます", "】,【", rows of wide spaces and a few identifiers of 40 letters.
    expect(wrong.length).toBeLessThan(size / 5000)
  })

  test('any text', () => {
    const word = fc.constantFrom(' a', "n't", ' don', '.com', '://', ' 12', '你好', ' é', '\\u0041')
    const pieces = fc.array(fc.oneof(word, fc.string({ unit: 'grapheme' })), { maxLength: 60 })
    const property = fc.property(pieces, (all) => {
      const text = all.join('')
      expect(minTokens(text)).toBeLessThanOrEqual(o200k.countTokens(text, plainText))
    })
    fc.assert(property, { numRuns: 3000 })
  })
})
