import { describe, expect, test } from 'bun:test'
import { createCipheriv, randomBytes } from 'node:crypto'
import * as fc from '../../../testing/property'
import {
  connectionSecret,
  fingerprintOf,
  getKeyId,
  rewrap,
  seal,
  unseal,
  type SealingKeys,
} from './sealed'

const old = { id: 'old', key: Buffer.alloc(32, 7) }
const young = { id: 'young', key: Buffer.alloc(32, 9) }
const keys: SealingKeys = [old]
const at = connectionSecret('conn_01')

test('K07: a sealed secret opens unchanged, and never has the same ciphertext twice', () => {
  const property = fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
    const sealed = seal(secret, keys, at)
    expect(unseal(sealed, keys, at)).toBe(secret)
    expect(sealed.equals(seal(secret, keys, at))).toBe(false)
  })
  fc.assert(property)
})

test('K02: the secret is not in the stored text', () => {
  expect(seal('sk-canary-0123456789', keys, at).includes('canary')).toBe(false)
})

describe('K07: does not open', () => {
  const sealed = seal('sk-secret', keys, at)

  test.each([
    ['row', { ...at, row: 'conn_02' }],
    ['table', { ...at, table: 'gateway' }],
    ['column', { ...at, column: 'token' }],
  ])('in another %s', (_what, elsewhere) => {
    expect(() => unseal(sealed, keys, elsewhere)).toThrow()
    expect(() => rewrap(sealed, [young, old], elsewhere)).toThrow()
  })

  test('without its key, which is named', () => {
    expect(() => unseal(sealed, [young], at)).toThrow('the key "old", which ENCRYPTION_KEY lacks')
  })

  test('with another key of that name', () => {
    expect(() => unseal(sealed, [{ id: 'old', key: randomBytes(32) }], at)).toThrow()
  })

  test('with a data key that another secret of the same row had', () => {
    const other = seal('sk-another', keys, at)
    const headBytes = 2 + 'old'.length + 12 + 16 + 32
    const mixed = Buffer.concat([other.subarray(0, headBytes), sealed.subarray(headBytes)])
    expect(() => unseal(mixed, keys, at)).toThrow()
  })

  test('cut off anywhere, the tag shortened among others', () => {
    for (const whole of [sealed, seal('', keys, at)]) {
      for (let length = 0; length < whole.length; length++) {
        expect(() => unseal(whole.subarray(0, length), keys, at)).toThrow()
      }
    }
  })

  test('with any bit changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => unseal(changed, keys, at)).toThrow()
    }
  })

  test('with something behind it', () => {
    expect(() => unseal(Buffer.concat([sealed, Buffer.from([0])]), keys, at)).toThrow()
  })
})

describe('another key comes', () => {
  test('both open secrets sealed by the old one, and the new one seals', () => {
    const sealed = seal('sk-secret', keys, at)
    expect(unseal(sealed, [young, old], at)).toBe('sk-secret')
    expect(getKeyId(seal('sk-secret', [young, old], at))).toBe('young')
  })

  test('a rewrapped key opens with the new one alone; the encrypted secret stays as it is', () => {
    const sealed = seal('sk-secret', keys, at)
    const wrapped = rewrap(sealed, [young, old], at) ?? Buffer.alloc(0)
    expect(unseal(wrapped, [young], at)).toBe('sk-secret')
    expect(() => unseal(wrapped, [old], at)).toThrow('"young"')
    expect(wrapped.subarray(-20).equals(sealed.subarray(-20))).toBe(true)
    expect(rewrap(wrapped, [young, old], at)).toBeUndefined()
  })

  test('a key that received a name later opens secrets from before', () => {
    const unnamed = { id: fingerprintOf(old.key).toString('hex'), key: old.key }
    expect(unseal(seal('sk-secret', [unnamed], at), [young, old], at)).toBe('sk-secret')
  })
})

describe('a secret from before there were data keys', () => {
  const head = Buffer.concat([Buffer.from([1]), fingerprintOf(old.key)])
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', old.key, iv).setAAD(
    Buffer.concat([head, Buffer.from(at.row)]),
  )
  const body = Buffer.concat([cipher.update('sk-first', 'utf8'), cipher.final()])
  const sealed = Buffer.concat([head, iv, cipher.getAuthTag(), body])

  test('opens, in its row', () => {
    expect(unseal(sealed, [young, old], at)).toBe('sk-first')
    expect(() => unseal(sealed, [young, old], connectionSecret('conn_02'))).toThrow()
    expect(() => unseal(sealed, [young], at)).toThrow('which ENCRYPTION_KEY lacks')
  })

  test('receives a data key when it is rewrapped, also under the same key', () => {
    const wrapped = rewrap(sealed, [old], at) ?? Buffer.alloc(0)
    expect(wrapped[0]).toBe(2)
    expect(unseal(wrapped, [old], at)).toBe('sk-first')
  })
})
