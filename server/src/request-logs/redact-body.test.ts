import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { toStoredText, maxBodyBytes, withoutSecrets } from './redact-body'

const secrets = [
  'sk-tg-0123456789abcdefghij',
  'gt-tg-0123456789abcdefghij',
  'sk-proj-0123456789_abcdef',
  'sk-ant-api03-0123456789-abcdef',
  'gsk_0123456789abcdef',
  'xai-0123456789abcdef',
  'hf_0123456789abcdef',
  'AIzaSy0123456789012345678901234567',
  'AKIA0123456789ABCDEF',
  'github_pat_0123456789abcdef',
  'glpat-0123456789abcdef',
  'xoxb-0123456789-abcdef',
  'ya29.a0123456789abcdef',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
]

test.each(secrets)('%s is masked at every beginning of a word', (secret) => {
  for (const around of ['', ' ', '"', '\n', '=', '(', 'é', '_']) {
    for (const text of [`${around}${secret}${around}`, JSON.stringify({ a: `x${around}` })]) {
      if (text.includes(secret)) expect(withoutSecrets(text)).not.toContain(secret)
    }
    const json = JSON.stringify({ note: `said${around || ' '}\n${secret}\tand more` })
    expect(withoutSecrets(json)).not.toContain(secret)
    expect(JSON.parse(withoutSecrets(json))).toBeObject()
  }
})

test('a value in a secret field is masked in any form, and its quotes stay', () => {
  for (const name of ['authorization', 'Api_Key', 'apiKey', 'password', 'client_secret']) {
    const json = JSON.stringify({ [name]: 'plain "word" \\', other: 'stays' })
    expect(JSON.parse(withoutSecrets(json))).toEqual({ [name]: '[secret]', other: 'stays' })
  }
})

test('a private key is masked whole, also a truncated one', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqh\n'
  expect(withoutSecrets(`a ${key}-----END PRIVATE KEY----- b`)).toBe('a [secret] b')
  expect(withoutSecrets(JSON.stringify(`a ${key}`))).not.toContain('MIIE')
})

test('other words stay', () => {
  const text = 'The task-management of a monkey_business, a desk-lamp and basic English.'
  expect(withoutSecrets(text)).toBe(text)
})

test('a text is at most 64 KB of well-formed UTF-8 without a zero character', () => {
  const long = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 })
  const property = fc.property(long, fc.integer({ min: 1, max: 100_000 }), (unit, times) => {
    const text = unit.repeat(Math.ceil(times / unit.length))
    const stored = toStoredText(`${text}\0`)
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(maxBodyBytes)
    expect(stored.isWellFormed()).toBe(true)
    expect(stored).not.toContain('\0')
  })
  fc.assert(property, { numRuns: 30 })
  for (const unit of ['é', 'a€', '😀', 'ab😀']) {
    expect(toStoredText(unit.repeat(100_000))).not.toContain('\ufffd')
  }
})

test('a secret across the bound is masked', () => {
  const secret = 'sk-tg-0123456789abcdefghij'
  for (let before = maxBodyBytes - 60; before < maxBodyBytes + 10; before++) {
    const stored = toStoredText(`${'x'.repeat(before - 1)} ${secret} ${'y'.repeat(100_000)}`)
    if (stored.includes('0123')) throw new Error(`shown at ${before}`)
  }
  expect(toStoredText('x'.repeat(maxBodyBytes))).toHaveLength(maxBodyBytes)
  expect(toStoredText('x'.repeat(maxBodyBytes + 1))).toEndWith(' [cut]')
})
