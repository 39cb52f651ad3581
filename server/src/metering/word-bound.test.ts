import { describe, expect, test } from 'bun:test'
import cl100kRanks from 'gpt-tokenizer/bpeRanks/cl100k_base'
import o200kRanks from 'gpt-tokenizer/bpeRanks/o200k_base'
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { countTokens as countP50k } from 'gpt-tokenizer/encoding/p50k_base'
import { countTokens as countR50k } from 'gpt-tokenizer/encoding/r50k_base'
import { WordBounds } from './word-bound'
import { isDeep } from '../../testing/depth'
import * as fc from '../../testing/property'

const asText = { disallowedSpecial: new Set<string>() }
const vocabularies = [countO200k, countCl100k, countP50k, countR50k]
const words = new WordBounds([countO200k, countR50k])
const boundOf = (text: string) => words.bound(text, () => false) ?? Number.NaN
const countedMost = (text: string) => Math.max(...vocabularies.map((count) => count(text, asText)))

const prose =
  'The gateway holds the maximum cost of a request before it is sent, and settles it afterwards. '

describe('the bound of a text by any vocabulary', () => {
  test('finding M23: prose has about half a token a byte, which is more than any vocabulary counts', () => {
    const text = prose.repeat(100)
    expect(boundOf(text)).toBeLessThan(0.56 * text.length)
    expect(boundOf(text)).toBeGreaterThan(2 * countedMost(text))
  })

  test('uses the bytes for words that are in no vocabulary', () => {
    for (const text of [
      '0123456789'.repeat(9),
      '-'.repeat(64),
      '漢字かな交じり',
      'LONG USD',
      '\n\t\n',
    ]) {
      expect(boundOf(text)).toBe(Buffer.byteLength(text) - (text.match(/ (?=[a-z])/g)?.length ?? 0))
    }
  })

  test('a run of letters that is not a word counts as its letters, at any length', () => {
    const run = 'abcdefghij'.repeat(100_000)
    expect(boundOf(run)).toBe(run.length)
  })

  test('a late text has none', () => {
    expect(words.bound(prose, () => true)).toBeUndefined()
    let looks = 0
    expect(words.bound(prose.repeat(1000), () => ++looks > 2)).toBeUndefined()
  })

  test('is never below the count of a vocabulary, and never above the bytes', () => {
    const piece = fc.constantFrom(...o200kRanks.filter((rank) => typeof rank === 'string'))
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(' ')),
    )
    const property = fc.property(text, (content) => {
      const bound = boundOf(content)
      expect(bound).toBeGreaterThanOrEqual(countedMost(content))
      expect(bound).toBeLessThanOrEqual(Buffer.byteLength(content))
    })
    fc.assert(property, { numRuns: 5000 })
  })

  test('finding M23: no word that one vocabulary has whole has more tokens in another', () => {
    const all = [...o200kRanks, ...cl100kRanks].filter(
      (rank): rank is string => typeof rank === 'string' && /^ ?[A-Za-z]{3,32}$/.test(rank),
    )
    const step = isDeep ? 1 : 40
    const cheap: string[] = []
    for (let at = 0; at < all.length; at += step) {
      // An attacker repeats the word that is counted least.
      const text = (all[at] ?? '').repeat(3)
      if (countedMost(text) > boundOf(text)) cheap.push(text)
    }
    expect(cheap).toEqual([])
  }, 120_000)
})
