import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { unpackCallId, packCallId, unpackSignature } from './packed-call-id'

test('a packed id has only characters that are safe in ids', () => {
  expect(packCallId('call_1', 'ab+/cd==')).toBe('call_1__thought__ab-_cd')
})

test('id and signature return unchanged for any bytes', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 })
  const property = fc.property(bytes, fc.stringMatching(/^[\w.:-]{1,40}$/), (signature, id) => {
    fc.pre(!id.includes('__thought__'))
    const base64 = Buffer.from(signature).toString('base64')
    const packed = packCallId(id, base64)
    expect(packed).toMatch(/^[\w.:-]+$/)
    expect(unpackCallId(packed)).toBe(id)
    expect(unpackSignature(packed)).toBe(base64)
  })
  fc.assert(property)
})

test.each([
  ['functions.Bash:0', undefined],
  ['__thought__YQ', undefined],
  ['call_1__thought__', undefined],
  ['call_1__thought__not base64', undefined],
  // Another gateway may have packed it in the standard alphabet.
  ['call_1__thought__ab+/cd==', 'ab+/cd=='],
])('the signature in %p is %p', (id, signature) => {
  expect(unpackSignature(id)).toBe(signature)
})

test('an id without anything packed stays as it is', () => {
  for (const id of ['call_1', 'functions.Bash:0', '__thought__YQ'])
    expect(unpackCallId(id)).toBe(id)
})
