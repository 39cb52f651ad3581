import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import {
  hashOf,
  isGatewayToken,
  isWellFormed,
  newApiKey,
  newGatewayToken,
  keyPrefix,
} from './api-key'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keys = Array.from({ length: 20_000 }, newApiKey)

test('a gateway’s token has the form of a key, and neither is accepted as the other', () => {
  const token = newGatewayToken()
  expect(token).toMatch(/^gt-tg-[0-9A-Za-z]{49}$/)
  expect([isGatewayToken(token), isWellFormed(token)]).toEqual([true, false])
  const key = newApiKey()
  expect([isGatewayToken(key), isWellFormed(key)]).toEqual([false, true])
  expect(isGatewayToken(key.replace('sk', 'gt'))).toBe(false)
})

describe('a new key', () => {
  test('K01: is found by one pattern of a secret scanner and passes its own check', () => {
    for (const key of keys.slice(0, 2000)) {
      expect(key).toMatch(/^sk-tg-[0-9A-Za-z]{49}$/)
      expect(isWellFormed(key)).toBe(true)
    }
  })

  test('K01: is never generated twice', () => {
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('K01: uses all characters uniformly', () => {
    const counts = new Map(base62.split('').map((character) => [character, 0]))
    // The first digit of 43 holds less than a whole one of the 256 bits.
    for (const key of keys) {
      for (const character of key.slice(7, 49)) {
        counts.set(character, (counts.get(character) ?? 0) + 1)
      }
    }
    const expected = (keys.length * 42) / 62
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    )
    // 61 degrees of freedom: more than 120 happens once in a million runs.
    expect(chiSquare).toBeLessThan(120)
  })

  test('shows twelve characters and is stored as 64 hexadecimal digits', () => {
    const [key = ''] = keys
    expect(keyPrefix(key)).toBe(key.slice(0, 12))
    expect(hashOf(key)).toMatch(/^[0-9a-f]{64}$/)
    expect(hashOf(key)).not.toBe(hashOf(`${key} `))
  })
})

describe('the check of a key', () => {
  test('K01: finds every change of a single character', () => {
    const change = fc.record({
      key: fc.constantFrom(...keys.slice(0, 50)),
      position: fc.nat({ max: 54 }),
      character: fc.constantFrom(...base62.split(''), '-', '_', ' ', '\0', 'é'),
    })
    const property = fc.property(change, ({ key, position, character }) => {
      const changed = key.slice(0, position) + character + key.slice(position + 1)
      expect(isWellFormed(changed)).toBe(changed === key)
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  test('K01: finds two neighbours that changed places', () => {
    const [key = ''] = keys
    for (let position = 6; position < key.length - 1; position++) {
      const pair = key.slice(position, position + 2)
      const swapped = key.slice(0, position) + pair[1] + pair[0] + key.slice(position + 2)
      expect(isWellFormed(swapped)).toBe(swapped === key)
    }
  })

  test('rejects a text that is too short, too long or contains a key', () => {
    const [key = ''] = keys
    const wrong = ['', 'sk-tg-', key.slice(0, -1), `${key}0`, `${key}\n`, ` ${key}`, key.slice(6)]
    for (const text of wrong) expect(isWellFormed(text)).toBe(false)
  })

  test('K05: takes any text without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isWellFormed(text)))
  })
})
