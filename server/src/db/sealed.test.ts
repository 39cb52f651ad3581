import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { isSealedWith, seal, unseal } from './sealed'

const key = Buffer.alloc(32, 7)
const owner = 'conn_01'

test('K07: what is sealed opens as it was, and never looks the same twice', () => {
  const property = fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
    const sealed = seal(secret, key, owner)
    expect(unseal(sealed, key, owner)).toBe(secret)
    expect(sealed.equals(seal(secret, key, owner))).toBe(false)
  })
  fc.assert(property)
})

test('K02: the secret is not in what is stored', () => {
  expect(seal('sk-canary-0123456789', key, owner).includes('canary')).toBe(false)
})

describe('K07: does not open', () => {
  const sealed = seal('sk-secret', key, owner)

  test('in another row', () => {
    expect(() => unseal(sealed, key, 'conn_02')).toThrow()
  })

  test('with another key, and says so', () => {
    expect(() => unseal(sealed, randomBytes(32), owner)).toThrow('another ENCRYPTION_KEY')
    expect(isSealedWith(sealed, randomBytes(32))).toBe(false)
    expect(isSealedWith(sealed, key)).toBe(true)
  })

  test('cut off anywhere, the tag shortened among others', () => {
    for (let length = 0; length < sealed.length; length++) {
      expect(() => unseal(sealed.subarray(0, length), key, owner)).toThrow()
    }
    // Of an empty secret nothing but the tag is left to cut.
    const empty = seal('', key, owner)
    for (let length = 0; length < empty.length; length++) {
      expect(() => unseal(empty.subarray(0, length), key, owner)).toThrow()
    }
  })

  test('with any bit changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => unseal(changed, key, owner)).toThrow()
    }
  })

  test('with something behind it', () => {
    expect(() => unseal(Buffer.concat([sealed, Buffer.from([0])]), key, owner)).toThrow()
  })
})
