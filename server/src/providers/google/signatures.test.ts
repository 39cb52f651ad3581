import { describe, expect, test } from 'bun:test'
import { assistant, call, tool, turnsOf, user } from '../../../testing/providers/google-chat'
import { isObject, type JsonObject } from '../../wire/json-body'
import { packCallId } from '../../wire/packed-call-id'
import type { AdapterTarget } from '../adapter'

/** A model that needs no signatures. */
const older = 'gemini-2.5-pro'
const skipped = 'skip_thought_signature_validator'
const signature = { extra_content: { google: { thought_signature: 'ab+/cd==' } } }

/** The signatures of the calls of one turn, as they are sent. */
function signaturesOf(
  calls: JsonObject[],
  model?: string,
  targetFields?: Partial<AdapterTarget>,
): unknown {
  const results = calls.map((_, index) => tool(String(index + 1), 'x'))
  const turns = turnsOf([user('a'), assistant(null, ...calls), ...results], model, targetFields)
  const called: unknown = Array.isArray(turns) ? turns[1] : undefined
  const parts = isObject(called) ? called['parts'] : undefined
  return Array.isArray(parts)
    ? parts.map((part: unknown) => (isObject(part) ? part['thoughtSignature'] : 'no part'))
    : undefined
}

describe('thought signatures', () => {
  test('the field of Google’s own convention is taken first', () => {
    const id = packCallId('1', 'b3RoZXI=')
    expect(signaturesOf([call(id, { extra: signature })])).toEqual(['ab+/cd=='])
  })

  test('else the signature packed into the id, in any alphabet', () => {
    for (const id of ['1__thought__ab-_cd', '1__thought__ab+/cd==']) {
      expect(signaturesOf([call(id)])).toEqual(['ab+/cd=='])
    }
  })

  test('else the value that fits all, on the first call of the turn alone', () => {
    expect(signaturesOf([call('1'), call('2')])).toEqual([skipped, undefined])
    expect(signaturesOf([call('1'), call('2', { extra: signature })])).toEqual([
      skipped,
      'ab+/cd==',
    ])
    expect(signaturesOf([call('1', { extra: signature }), call('2')])).toEqual([
      'ab+/cd==',
      undefined,
    ])
  })

  test('models before Gemini 3 need none, but keep existing ones', () => {
    expect(signaturesOf([call('1'), call('2')], older)).toEqual([undefined, undefined])
    expect(signaturesOf([call('1', { extra: signature })], older)).toEqual(['ab+/cd=='])
  })

  test('once refused, all are replaced', () => {
    const calls = [call('1', { extra: signature }), call('2__thought__YWI', { args: '{}' })]
    const targetFields = { signatures: 'replaced' as const }
    expect(signaturesOf(calls, 'gemini-3-pro-preview', targetFields)).toEqual([skipped, undefined])
  })

  test('each step of several has its own', () => {
    const messages = [
      user('a'),
      assistant(null, call('1', { extra: signature })),
      tool('1', 'x'),
      assistant(null, call('2')),
      tool('2', 'y'),
    ]
    expect(turnsOf(messages)).toMatchObject([
      {},
      { parts: [{ thoughtSignature: 'ab+/cd==' }] },
      {},
      { parts: [{ thoughtSignature: skipped }] },
      {},
    ])
  })

  test('the signature of a text returns on its last part', () => {
    const messages = [user('a'), { ...assistant('b'), ...signature }, user('c')]
    expect(turnsOf(messages)).toMatchObject([
      {},
      { parts: [{ text: 'b', thoughtSignature: 'ab+/cd==' }] },
      {},
    ])
  })

  test.each([7, '', 'no base64!', null])('%p is not a signature', (thought_signature) => {
    const extra = { extra_content: { google: { thought_signature } } }
    expect(signaturesOf([call('1', { extra })])).toEqual([skipped])
  })

  test('removes the packed part of an id, and results still match their calls', () => {
    const packed = packCallId('1', 'ab+/cd==')
    for (const id of ['1', packed]) {
      const messages = [user('a'), assistant(null, call(packed)), tool(id, 'x')]
      const body = JSON.stringify(turnsOf(messages))
      expect(body).not.toContain('__thought__')
      expect(body).toContain('"functionResponse":{"id":"1"')
    }
  })
})
